//! State of a repository: servers and activators, and the events that change them.
//!
//! It makes no calls, and reads no clock: each event returns the [`Action`]s that follow from it, to be made without the lock
//! of the state. Invariants:
//! - Of a server there is at most one start in progress, except in the mode PER_CLIENT; all that come meanwhile wait for it.
//! - A client is led to a process with a server object only after a ping that began when the client had come, or later.
//! - Each that waits is answered once: by a registration, a failure of the start, or its time-out.

use std::collections::BTreeMap;
use std::time::Instant;

use punctual::{ObjectRef, minor};

use super::outcome::{Action, Answered, By, Failure, Place};
use super::server::{Leaving, Ping, Run, Server, Start};
use crate::activator::unmarked;
use crate::implementation_repository::{ActivationMode, StartupOptions};
use crate::key::KeyNames;
use crate::limits::Limits;

/// Servers and activators by name; `W` is what waits for a server.
#[derive(Debug)]
pub(crate) struct State<W> {
    pub(crate) servers: BTreeMap<String, Server<W>>,
    pub(crate) activators: BTreeMap<String, Activator>,
    pub(crate) limits: Limits,
    pub(crate) counts: Counts,
    /// Number of the last start, ping or registration.
    last: u64,
}

/// Activator that has registered.
#[derive(Clone, Debug)]
pub(crate) struct Activator {
    pub(crate) token: i32,
    /// Its object; `None` for the one in this process.
    pub(crate) object: Option<ObjectRef>,
}

/// Process of a server, as its activator knows it.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// Server that it was started for.
    pub(crate) started_as: String,
    pub(crate) pid: i32,
    pub(crate) activator: String,
}

/// Numbers of events since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) forwards: u64,
    pub(crate) refusals: u64,
    pub(crate) starts: u64,
    pub(crate) failed_starts: u64,
    pub(crate) deaths: u64,
    pub(crate) pings: u64,
}

pub(super) type Actions<W> = Vec<Action<W>>;

impl<W> State<W> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            servers: BTreeMap::new(),
            activators: BTreeMap::new(),
            limits,
            counts: Counts::default(),
            last: 0,
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the server that an object key belongs to.
    pub(crate) fn named_in(&self, key: &KeyNames<'_>) -> Option<String> {
        let found = key.names.iter().filter_map(|name| match key.server_id {
            Some(id) => {
                let full = format!("{id}:{name}");
                self.servers.contains_key(&full).then_some(full)
            }
            None => self.resolved(name),
        });
        let mut found: Vec<String> = found.collect();
        // A POA may have registered that another one of its path starts.
        let of_use = found.iter().position(|name| self.is_of_use(name));
        (!found.is_empty()).then(|| found.swap_remove(of_use.unwrap_or(0)))
    }

    /// Returns whether a server runs, or can be started.
    fn is_of_use(&self, name: &str) -> bool {
        self.servers.get(name).is_some_and(|server| {
            let (runs, starts) = (server.run.is_some(), server.start.is_some());
            runs || starts || !server.options.command_line.is_empty()
        }) || self.leader(name).is_some()
    }

    /// Returns the name of the server that a name means: itself, or the only server that has it behind its id.
    pub(crate) fn resolved(&self, name: &str) -> Option<String> {
        if self.servers.contains_key(name) {
            return Some(name.to_owned());
        }
        let mut with_id = self.servers.keys().filter(|one| is_behind_id(one, name));
        let first = with_id.next()?;
        with_id.next().is_none().then(|| first.clone())
    }

    /// Takes one that wants the server to run, and to know where.
    pub(crate) fn requested(&mut self, name: &str, waiter: W, by: By, now: Instant) -> Actions<W> {
        let mut actions = Vec::new();
        self.request(name, (waiter, by), now, &mut actions);
        self.counted(actions)
    }

    pub(super) fn request(
        &mut self,
        name: &str,
        waiter: (W, By),
        now: Instant,
        out: &mut Actions<W>,
    ) {
        let number = self.next();
        let most = self.limits.waiting;
        let Some(server) = self.servers.get_mut(name) else {
            return out.push(Action::Answer(waiter.0, Err(Failure::unknown(name))));
        };
        if server.waiting() >= most {
            let reason = format!("{most} clients wait for `{name}` already");
            let failure = Failure::new(minor::LIMIT, reason);
            return out.push(Action::Answer(waiter.0, Err(failure)));
        }
        let is_own = server.options.activation == ActivationMode::PerClient;
        if is_own && waiter.1 == By::Client {
            return self.begin_for(name, waiter, now, out);
        }
        if let Some(start) = &mut server.start {
            return start.waiters.push(waiter);
        }
        let Some(run) = &server.run else {
            return self.begin_for(name, waiter, now, out);
        };
        let Some(object) = &run.place.object else {
            // It cannot be asked.
            return out.push(Action::Answer(waiter.0, Ok(run.place.clone())));
        };
        match &mut server.ping {
            Some(ping) if ping.run == run.number => ping.waiters.push(waiter),
            ping => {
                // Those who wait for a ping of an earlier process wait for this one.
                let mut waiters = ping.take().map(|ping| ping.waiters).unwrap_or_default();
                waiters.push(waiter);
                let run = run.number;
                let (name, object) = (name.to_owned(), object.clone());
                out.push(Action::Ping {
                    number,
                    name,
                    object,
                });
                *ping = Some(Ping {
                    number,
                    run,
                    waiters,
                });
                self.counts.pings += 1;
            }
        }
    }

    /// Begins to start a process for one that waits, or the process of the leader.
    fn begin_for(&mut self, name: &str, waiter: (W, By), now: Instant, out: &mut Actions<W>) {
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
        let is_own = server.options.activation == ActivationMode::PerClient && by == By::Client;
        let held_by = server.leaving.clone().filter(|_| !is_own);
        let start = Start {
            number,
            pid: None,
            activator: activator.clone(),
            is_held: held_by.is_some(),
            until,
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

    /// Takes that a process is not there any more, or that its activator cannot say so.
    pub(crate) fn gone(&mut self, name: &str, pid: i32, now: Instant) -> Actions<W> {
        let server = self.servers.get(name);
        match server.and_then(|server| server.leaving.as_ref()) {
            Some(leaving) if leaving.pid == pid => self.left(name, now),
            _ => Vec::new(),
        }
    }

    /// Takes that a process which was ending has ended, or that its time is up: another one may be started.
    fn left(&mut self, name: &str, now: Instant) -> Actions<W> {
        let until = now + self.limits.start;
        let Some(server) = self.servers.get_mut(name) else {
            return Vec::new();
        };
        server.leaving = None;
        let Some(start) = server.start.as_mut().filter(|start| start.is_held) else {
            return Vec::new();
        };
        (start.is_held, start.until) = (false, until);
        let number = start.number;
        let Some(activator) = starter(&self.activators, &server.options) else {
            let why = without_starter(name, &server.options);
            return self.start_failed(name, number, &why, now);
        };
        start.activator.clone_from(&activator);
        self.counts.starts += 1;
        vec![Action::Start {
            number,
            name: name.to_owned(),
            activator,
            options: server.options.clone(),
        }]
    }

    /// Takes the registration of a process.
    pub(crate) fn registered(
        &mut self,
        name: &str,
        place: Place,
        peer: Option<String>,
        now: Instant,
    ) -> Actions<W> {
        let number = self.next();
        let server = self.servers.entry(name.to_owned());
        let server = server.or_insert_with(|| Server::new(StartupOptions::default()));
        server.held_until = None;
        let forward = |(waiter, _): (W, By)| Action::Answer(waiter, Ok(place.clone()));
        if server.options.activation == ActivationMode::PerClient
            && let Some(start) = server.own_starts.pop_front()
        {
            let actions = start.waiters.into_iter().map(forward).collect();
            return self.counted(actions);
        }
        let start = server.start.take();
        server.run = Some(Run {
            number,
            place: place.clone(),
            pid: start.as_ref().and_then(|start| start.pid),
            activator: start
                .as_ref()
                .map(|start| start.activator.clone())
                .unwrap_or_default(),
            is_followed: start.is_some() && follows_end(&server.options),
            awaits_pid: start
                .as_ref()
                .is_some_and(|start| start.pid.is_none() && !start.is_held),
            peer,
            since: now,
            ended: None,
            is_to_end: false,
            is_verified: true,
        });
        // It has just called, and so it lives.
        let pinged = server.ping.take().map(|ping| ping.waiters);
        let started = start.map(|start| start.waiters);
        let waiters = pinged.into_iter().chain(started).flatten();
        let actions = waiters.map(forward).collect();
        self.counted(actions)
    }

    /// Takes the notice of a process that it ends. The notice has a name only, perhaps without the server's id, or JacORB's implementation: of those that
    /// it may mean, it means the one that registered from the same address.
    ///
    /// Returns `None` if no server has the name.
    pub(crate) fn ending(
        &mut self,
        name: &str,
        peer: Option<&str>,
        now: Instant,
    ) -> Option<(Option<String>, Actions<W>)> {
        let means = |one: &str| one == name || is_behind_id(one, name) || is_of_jacorb(one, name);
        let meant: Vec<String> = self
            .servers
            .keys()
            .filter(|one| means(one))
            .cloned()
            .collect();
        let first = meant.first()?.clone();
        let from_there = meant.iter().find(|one| {
            let run = self
                .servers
                .get(*one)
                .and_then(|server| server.run.as_ref());
            run.is_some_and(|run| run.peer.as_deref() == peer && peer.is_some())
        });
        // One that was read from the store has no address. If it was another process, the next ping says so.
        let is_stored =
            |server: &Server<W>| server.run.as_ref().is_some_and(|run| run.peer.is_none());
        let ended = match from_there {
            Some(name) => name.clone(),
            None if meant.len() == 1 && self.servers.get(&first).is_some_and(is_stored) => first,
            None => {
                tracing::debug!(
                    "a process that has registered as `{name}` before the present one ends"
                );
                return Some((None, Vec::new()));
            }
        };
        let actions = self.ended(&ended, true, now);
        Some((Some(ended), actions))
    }

    /// Takes the end of a registered process.
    fn ended(&mut self, name: &str, is_orderly: bool, now: Instant) -> Actions<W> {
        let mut actions = Vec::new();
        let limits = self.limits;
        let Some(server) = self.servers.get_mut(name) else {
            return actions;
        };
        server.note_end(is_orderly, &limits, now);
        let waiters = server.ping.take().map(|ping| ping.waiters);
        for waiter in waiters.into_iter().flatten() {
            self.request(name, waiter, now, &mut actions);
        }
        self.counted(actions)
    }

    /// Takes the end of a process with all of its servers.
    fn process_ended(&mut self, name: &str, now: Instant) -> Actions<W> {
        let server = self.servers.get(name);
        let run = server.and_then(|server| server.run.clone());
        let others = run.map(|run| self.others_of(name, &run));
        let mut actions = self.ended(name, false, now);
        for other in others.into_iter().flatten() {
            actions.extend(self.ended(&other, false, now));
        }
        actions
    }

    /// Has a registered process pinged whose activator says that it has ended: another process may have registered before the one
    /// that the activator has started, which has given up.
    fn verify(&mut self, name: &str, now: Instant) -> Actions<W> {
        let number = self.next();
        let Some(server) = self.servers.get_mut(name) else {
            return Vec::new();
        };
        let Some((run, object)) = server
            .run
            .as_ref()
            .and_then(|run| Some((run.number, run.place.object.clone()?)))
        else {
            return self.process_ended(name, now);
        };
        let earlier = server.ping.take();
        server.ping = Some(Ping {
            number,
            run,
            waiters: earlier.map(|ping| ping.waiters).unwrap_or_default(),
        });
        self.counts.pings += 1;
        vec![Action::Ping {
            number,
            name: name.to_owned(),
            object,
        }]
    }

    /// Takes a process that an activator of an earlier time has started for a server, and that goes on: the registered one, or one that
    /// has not registered yet.
    pub(crate) fn goes_on(&mut self, name: &str, pid: i32, activator: &str, now: Instant) {
        let (number, until) = (self.next(), now + self.limits.start);
        let Some(server) = self.servers.get_mut(name) else {
            return;
        };
        let is_own = server.options.activation == ActivationMode::PerClient;
        let follows = follows_end(&server.options);
        match &mut server.run {
            Some(run) if run.pid.is_none_or(|known| known == pid) => {
                run.pid = Some(pid);
                run.is_followed = follows;
                activator.clone_into(&mut run.activator);
            }
            None if server.start.is_none() && !is_own => {
                server.start = Some(Start {
                    number,
                    pid: Some(pid),
                    activator: activator.to_owned(),
                    is_held: false,
                    until,
                    waiters: Vec::new(),
                });
            }
            _ => {}
        }
    }

    /// Takes the process that an activator has started for a server.
    pub(crate) fn spawned(&mut self, name: &str, pid: i32) {
        let Some(server) = self.servers.get_mut(name) else {
            return;
        };
        let starts = server.start.iter_mut().chain(&mut server.own_starts);
        let mut without = starts.filter(|start| start.pid.is_none() && !start.is_held);
        let follows = follows_end(&server.options);
        if let Some(run) = server.run.as_mut().filter(|run| run.pid == Some(pid)) {
            // The activator has been started anew, and has taken it over.
            run.is_followed = follows;
        } else if let Some(start) = without.next() {
            start.pid = Some(pid);
        } else if let Some(run) = server.run.as_mut().filter(|run| run.awaits_pid) {
            run.awaits_pid = false;
            run.pid = Some(pid);
        }
    }

    /// Takes the death of a process that an activator has started; an activator of an old version does not say which.
    /// Returns whether it was the registered one.
    pub(crate) fn died(
        &mut self,
        name: &str,
        pid: Option<i32>,
        now: Instant,
    ) -> (bool, Actions<W>) {
        self.counts.deaths += 1;
        let Some(server) = self.servers.get_mut(name) else {
            return (false, Vec::new());
        };
        let has_left = server
            .leaving
            .as_ref()
            .is_some_and(|leaving| pid.is_none_or(|pid| pid == leaving.pid));
        if has_left {
            return (false, self.left(name, now));
        }
        let is_it = |start: &Start<W>| pid.is_none() || start.pid == pid;
        let why = "its process ended before it registered";
        if let Some(number) = server
            .start
            .as_ref()
            .filter(|start| is_it(start))
            .map(|start| start.number)
        {
            return (false, self.start_failed(name, number, why, now));
        }
        let own = server
            .own_starts
            .iter()
            .find(|start| pid.is_some() && is_it(start));
        if let Some(number) = own.map(|start| start.number) {
            return (false, self.start_failed(name, number, why, now));
        }
        // Without its number the process may be another one; the next ping says.
        match &mut server.run {
            Some(run) if pid.is_some() && run.pid == pid => {
                (run.is_followed, run.pid) = (false, None);
                run.ended = Some(now);
                (true, self.verify(name, now))
            }
            _ => (false, Vec::new()),
        }
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

    fn end_start(
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
        server.note_failure(&limits, now);
        self.counts.failed_starts += 1;
        let reason = format!("`{name}` was not started: {why}");
        tracing::warn!("{reason}; {} clients waited for it", start.waiters.len());
        let failed =
            |(waiter, _)| Action::Answer(waiter, Err(Failure::new(minor, reason.as_str())));
        let actions = start.waiters.into_iter().map(failed).collect();
        let mut actions = self.counted(actions);
        for (follower, number) in self.followers_starts(name) {
            actions.extend(self.end_start(&follower, number, minor, why, now));
        }
        actions
    }

    /// Takes the answer to a ping, or that there was none.
    pub(crate) fn pinged(
        &mut self,
        name: &str,
        number: u64,
        answered: Answered,
        now: Instant,
    ) -> Actions<W> {
        let Some(server) = self.servers.get_mut(name) else {
            return Vec::new();
        };
        let Some(ping) = server.ping.take_if(|ping| ping.number == number) else {
            return Vec::new();
        };
        let (mut actions, mut ended) = (Vec::new(), Vec::new());
        match server.run.as_mut().filter(|run| run.number == ping.run) {
            Some(run)
                if answered == Answered::Alive
                    || answered == Answered::Silent && run.ended.is_none() =>
            {
                run.is_verified = answered == Answered::Alive;
                run.ended = None;
                let place = run.place.clone();
                let forward = |(waiter, _)| Action::Answer(waiter, Ok(place.clone()));
                actions.extend(ping.waiters.into_iter().map(forward));
            }
            found => {
                if let Some(run) = found {
                    if run.ended.is_none() {
                        tracing::warn!("`{name}` has ended without notice");
                    }
                    ended = self.process_ended(name, now);
                }
                for waiter in ping.waiters {
                    self.request(name, waiter, now, &mut actions);
                }
            }
        }
        ended.extend(self.counted(actions));
        ended
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

    /// Takes that an activator was started anew, or is gone: it tells the ends of its earlier processes no longer.
    pub(crate) fn activator_changed(&mut self, activator: &str, now: Instant) -> Actions<W> {
        let mut left = Vec::new();
        for (name, server) in &mut self.servers {
            let wanted = &*server.options.activator;
            if wanted != activator && !wanted.is_empty() {
                continue;
            }
            if let Some(run) = &mut server.run {
                run.is_followed = false;
            }
            left.extend(server.leaving.as_ref().map(|_| name.clone()));
        }
        let left = left.iter().flat_map(|name| self.left(name, now));
        left.collect()
    }

    /// Removes a server; those who wait for it get a failure.
    pub(crate) fn removed(&mut self, name: &str, now: Instant) -> Actions<W> {
        let Some(server) = self.servers.remove(name) else {
            return Vec::new();
        };
        let starts = server.start.into_iter().chain(server.own_starts);
        let starting = starts.flat_map(|start| start.waiters);
        let waiters = starting.chain(server.ping.into_iter().flat_map(|ping| ping.waiters));
        let failed = |(waiter, _)| Action::Answer(waiter, Err(Failure::unknown(name)));
        let actions = waiters.map(failed).collect();
        let mut actions = self.counted(actions);
        for (follower, number) in self.followers_starts(name) {
            let why = format!("`{name}`, which it is started with, was removed");
            actions.extend(self.start_failed(&follower, number, &why, now));
        }
        actions
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

    /// Returns the activator of a server, by name.
    pub(crate) fn activator(&self, wanted: &str) -> Option<&Activator> {
        match wanted {
            "" if self.activators.len() == 1 => self.activators.values().next(),
            wanted => self.activators.get(wanted),
        }
    }

    /// Returns the servers that are to be started when their activator registers.
    pub(crate) fn started_with(&self, activator: &str) -> Vec<String> {
        let servers = self.servers.iter().filter(|(_, server)| {
            let wanted = &server.options.activator;
            server.options.activation == ActivationMode::AutoStart
                && (wanted == activator || wanted.is_empty())
        });
        servers.map(|(name, _)| name.clone()).collect()
    }

    /// Takes all who wait, to be answered at the end of the process.
    pub(crate) fn end_waiting(&mut self) -> Actions<W> {
        let mut actions = Vec::new();
        for server in self.servers.values_mut() {
            let starts = server
                .start
                .take()
                .into_iter()
                .chain(server.own_starts.drain(..));
            let waiters = starts.flat_map(|start| start.waiters);
            let pinging = server.ping.take().into_iter().flat_map(|ping| ping.waiters);
            let failed = |(waiter, _)| {
                let failure = Failure::new(minor::DISCARDED, "the Implementation Repository ends");
                Action::Answer(waiter, Err(failure))
            };
            actions.extend(waiters.chain(pinging).map(failed));
        }
        actions
    }

    /// Counts the answers among actions.
    fn counted(&mut self, actions: Actions<W>) -> Actions<W> {
        for action in &actions {
            match action {
                Action::Answer(_, Ok(_)) => self.counts.forwards += 1,
                Action::Answer(_, Err(_)) => self.counts.refusals += 1,
                _ => {}
            }
        }
        actions
    }
}

/// Returns the name of the activator that starts a server.
fn starter(activators: &BTreeMap<String, Activator>, options: &StartupOptions) -> Option<String> {
    let found = match &*options.activator {
        "" if activators.len() == 1 => activators.keys().next(),
        wanted => activators.get_key_value(wanted).map(|(name, _)| name),
    };
    found.cloned()
}

/// Returns why a server cannot be started that has no activator.
fn without_starter(name: &str, options: &StartupOptions) -> String {
    match &*options.activator {
        "" => {
            format!("`{name}` cannot be started: it names no activator, and there is not just one")
        }
        wanted => format!("`{name}` cannot be started: there is no activator `{wanted}`"),
    }
}

/// Returns whether an activator notices the end of a server's process: that of a launcher means nothing.
fn follows_end(options: &StartupOptions) -> bool {
    !unmarked(&options.command_line).1
}

/// Returns whether a server's full name is an id, a colon and the name.
fn is_behind_id(full: &str, name: &str) -> bool {
    let behind = full.strip_suffix(name);
    behind.is_some_and(|before| before.strip_suffix(':').is_some_and(|id| !id.contains(':')))
}

/// Returns whether a server of JacORB, whose full name is its mark with the implementation and the path of the POA, ends under
/// the path alone.
fn is_of_jacorb(full: &str, path: &str) -> bool {
    let named = full.strip_prefix(crate::key::JACORB);
    named.is_some_and(|named| named.split_once('/').is_some_and(|(_, own)| own == path))
}
