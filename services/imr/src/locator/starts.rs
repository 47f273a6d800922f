//! Starts of processes, and the times that they have.

use std::time::Instant;

use punctual::minor;

use super::activators::{starter, without_starter};
use super::outcome::{Action, By, Failure};
use super::server::{Claim, Leaving, Start};
use super::state::{Actions, Process, State};
use crate::implementation_repository::ActivationMode;
use crate::kept;

impl<W> State<W> {
    /// Begins to start a process for one that waits, or the process of the leader.
    pub(super) fn begin_for(
        &mut self,
        name: &str,
        waiter: (W, By),
        now: Instant,
        out: &mut Actions<W>,
    ) {
        if let Some(leader) = self.leader(name).map(str::to_owned) {
            return self.follow(name, &leader, waiter, now, out);
        }
        let (waiter, by) = waiter;
        if let Err((failure, Some(waiter))) = self.begin(name, Some(waiter), by, now, out) {
            out.push(Action::Answer(waiter, Err(failure)));
        }
    }

    /// Begins to start a process.
    ///
    /// # Errors
    /// It may not be started; the one that would wait for it is given back.
    pub(super) fn begin(
        &mut self,
        name: &str,
        waiter: Option<W>,
        by: By,
        now: Instant,
        out: &mut Actions<W>,
    ) -> Result<(), (Failure, Option<W>)> {
        let number = self.next();
        let until = now + self.limits.start;
        let Some(server) = self.servers.get_mut(name) else {
            return Err((Failure::unknown(name), waiter));
        };
        let activator = starter(&self.activators, &server.options);
        let may_start = server.check_may_start(name, by, now).and_then(|()| {
            activator.ok_or_else(|| {
                Failure::new(minor::START_FAILED, without_starter(name, &server.options))
            })
        });
        let activator = match may_start {
            Ok(activator) => activator,
            Err(failure) => return Err((failure, waiter)),
        };
        let is_own = server.options.activation == ActivationMode::PerClient
            && by == By::Client
            && !self.is_shared;
        let claim = match self.is_shared {
            true => Claim::Wanted,
            false => Claim::Alone,
        };
        let held_by = server.leaving.clone().filter(|_| !is_own);
        let start = Start {
            number,
            pid: None,
            activator: activator.clone(),
            is_held: held_by.is_some(),
            until,
            claim,
            may_be_made: false,
            waiters: waiter.into_iter().map(|waiter| (waiter, by)).collect(),
        };
        match is_own {
            true => server.own_starts.push_back(start),
            false => server.start = Some(start),
        }
        if let Some(Leaving { pid, activator, .. }) = held_by {
            tracing::debug!("`{name}` is started when its old process {pid} has ended");
            let name = name.to_owned();
            out.push(Action::Look {
                name,
                activator,
                pid,
            });
            return Ok(());
        }
        self.counts.starts += 1;
        out.push(Action::Start {
            number,
            name: name.to_owned(),
            activator,
            options: server.options.clone(),
        });
        Ok(())
    }

    /// Takes the failure of a start: all who wait for it get the reason.
    pub(crate) fn start_failed(
        &mut self,
        name: &str,
        number: u64,
        why: &str,
        now: Instant,
    ) -> Actions<W> {
        self.end_start(name, number, minor::START_FAILED, why, now)
    }

    /// Takes that an activator cannot be asked to start a process. A start that was taken over from a repository which has died
    /// goes on: its process may have been started, and then registers, or its time ends.
    pub(crate) fn start_not_asked_for(
        &mut self,
        name: &str,
        number: u64,
        why: &str,
        now: Instant,
    ) -> Actions<W> {
        let start = self.servers.get(name).and_then(|one| one.start.as_ref());
        if start.is_some_and(|start| start.number == number && start.may_be_made) {
            tracing::warn!("`{name}` may have been started by a repository that has died: {why}");
            return Vec::new();
        }
        self.start_failed(name, number, why, now)
    }

    /// Takes that a start was not begun, as this repository cannot ask the others whether they make it. It does not count as failed.
    pub(super) fn start_refused(
        &mut self,
        name: &str,
        number: u64,
        why: &str,
        now: Instant,
    ) -> Actions<W> {
        let server = self.servers.get(name);
        let before = server.map(|server| server.failures.clone());
        let actions = self.end_start(name, number, minor::START_FAILED, why, now);
        if let (Some(server), Some(before)) = (self.servers.get_mut(name), before) {
            server.failures = before;
        }
        actions
    }

    pub(super) fn end_start(
        &mut self,
        name: &str,
        number: u64,
        minor: u32,
        why: &str,
        now: Instant,
    ) -> Actions<W> {
        let limits = self.limits;
        let Some(server) = self.servers.get_mut(name) else {
            return Vec::new();
        };
        let start = match &server.start {
            Some(start) if start.number == number => server.start.take(),
            _ => {
                let at = server
                    .own_starts
                    .iter()
                    .position(|start| start.number == number);
                at.and_then(|at| server.own_starts.remove(at))
            }
        };
        let Some(start) = start else {
            return Vec::new();
        };
        server.failures.note(why, &limits, now);
        let start_id = start.claim.id();
        self.counts.failed_starts += 1;
        let reason = format!("`{name}` was not started: {why}");
        tracing::warn!("{reason}; {} clients waited for it", start.waiters.len());
        let failed =
            |(waiter, _)| Action::Answer(waiter, Err(Failure::new(minor, reason.as_str())));
        let actions = start.waiters.into_iter().map(failed).collect();
        let mut actions = self.counted(actions);
        if let Some(id) = start_id
            && let Some(server) = self.servers.get_mut(name)
        {
            let reason = why.to_owned();
            server.failed = Some(kept::Failed { id, minor, reason });
            self.store(name, &mut actions);
        }
        for (follower, number) in self.followers_starts(name) {
            actions.extend(self.end_start(&follower, number, minor, why, now));
        }
        actions
    }

    /// Ends the starts whose time is up. Their processes are ended, as another one would be started beside them. Starts what waits for
    /// processes that do not end in time.
    pub(crate) fn tick(&mut self, now: Instant) -> Actions<W> {
        let (mut late, mut staying) = (Vec::new(), Vec::new());
        for (name, server) in &self.servers {
            let leaving = server.leaving.iter();
            let leaving = leaving.filter(|leaving| leaving.until <= now);
            staying.extend(leaving.map(|leaving| (name.clone(), leaving.pid)));
            let starts = server.start.iter().chain(&server.own_starts);
            let over = starts.filter(|start| !start.is_held && start.until <= now);
            late.extend(over.map(|start| {
                let activator = start.activator.clone();
                (name.clone(), start.number, start.pid, activator)
            }));
        }
        let mut actions = Vec::new();
        for (name, pid) in staying {
            tracing::warn!("`{name}`, process {pid}, has said that it ends, and has not ended");
            actions.extend(self.left(&name, now));
        }
        for (name, number, pid, activator) in late {
            let why = format!(
                "it has not registered under this name within {:?}",
                self.limits.start
            );
            actions.extend(self.end_start(&name, number, minor::START_TIMED_OUT, &why, now));
            if let Some(pid) = pid {
                actions.push(Action::Kill {
                    name,
                    activator,
                    pid,
                });
            }
        }
        actions
    }

    /// Returns the time of the next [`State::tick`], if a start or an end is in progress.
    pub(crate) fn next_tick(&self) -> Option<Instant> {
        let times = self.servers.values().flat_map(|server| {
            let starts = server.start.iter().chain(&server.own_starts);
            let starts = starts.filter(|start| !start.is_held);
            let leaving = server.leaving.iter().map(|leaving| leaving.until);
            leaving.chain(starts.map(|start| start.until))
        });
        times.min()
    }

    /// Returns the process of a server that runs or starts.
    ///
    /// # Errors
    /// The reason why it is not known.
    pub(crate) fn process_of(&self, name: &str) -> Result<Process, &'static str> {
        let started_as = self.leader(name).unwrap_or(name);
        let server = self.servers.get(started_as).ok_or("it was removed")?;
        let run = server.run.as_ref().map(|run| (run.pid, &run.activator));
        let start = server
            .start
            .as_ref()
            .map(|start| (start.pid, &start.activator));
        let (pid, activator) = run.or(start).ok_or("it does not run")?;
        let pid =
            pid.ok_or("no activator has started its process: ask it to end without a signal")?;
        let wanted = match &**activator {
            "" => &*server.options.activator,
            known => known,
        };
        Ok(Process {
            started_as: started_as.to_owned(),
            pid,
            activator: wanted.to_owned(),
        })
    }
}
