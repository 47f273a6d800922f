//! Ends of processes: said by themselves, told by activators, or found by pings.

use std::time::Instant;

use punctual::minor;

use super::activators::{starter, without_starter};
use super::outcome::{Action, Answered, Failure};
use super::server::{Claim, Ping, Server, Start};
use super::state::{Actions, State, is_behind_id};

impl<W> State<W> {
    /// Takes that a process is not there any more, or, unless this `is_certain`, that its activator cannot say so.
    pub(crate) fn gone(
        &mut self,
        name: &str,
        pid: i32,
        is_certain: bool,
        now: Instant,
    ) -> Actions<W> {
        let Some(server) = self.servers.get(name) else {
            return Vec::new();
        };
        if server.leaving.as_ref().is_some_and(|one| one.pid == pid) {
            return self.left(name, now);
        }
        let mut starts = server.start.iter().chain(&server.own_starts);
        let start = starts.find(|start| start.pid == Some(pid) && is_certain);
        match start.map(|start| start.number) {
            Some(number) => {
                let why = "its process ended while its activator was away";
                self.start_failed(name, number, why, now)
            }
            None => Vec::new(),
        }
    }

    /// Takes that a process which was ending has ended, or that its time is up: another one may be started.
    pub(super) fn left(&mut self, name: &str, now: Instant) -> Actions<W> {
        let until = now + self.limits.start;
        let Some(server) = self.servers.get_mut(name) else {
            return Vec::new();
        };
        let has_left = server.leaving.take().is_some();
        let Some(start) = server.start.as_mut().filter(|start| start.is_held) else {
            let mut actions = Vec::new();
            if has_left {
                self.store(name, &mut actions);
            }
            return actions;
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
        let actions = self.ended(&ended, now);
        Some((Some(ended), actions))
    }

    /// Takes the end of a registered process.
    pub(super) fn ended(&mut self, name: &str, now: Instant) -> Actions<W> {
        let mut actions = Vec::new();
        let limits = self.limits;
        let Some(server) = self.servers.get_mut(name) else {
            return actions;
        };
        server.note_end(&limits, now);
        let waiters = server.ping.take().map(|ping| ping.waiters);
        for waiter in waiters.into_iter().flatten() {
            self.request(name, waiter, now, &mut actions);
        }
        self.store(name, &mut actions);
        self.counted(actions)
    }

    /// Has the repositories that share a server told how it is.
    pub(super) fn store(&self, name: &str, actions: &mut Actions<W>) {
        if self.is_shared {
            let name = name.to_owned();
            actions.push(Action::Store { name });
        }
    }

    /// Takes the end of a process with all of its servers.
    pub(super) fn process_ended(&mut self, name: &str, now: Instant) -> Actions<W> {
        let server = self.servers.get(name);
        let run = server.and_then(|server| server.run.clone());
        let others = run.map(|run| self.others_of(name, &run));
        let mut actions = self.ended(name, now);
        for other in others.into_iter().flatten() {
            actions.extend(self.ended(&other, now));
        }
        actions
    }

    /// Has a registered process pinged whose activator says that it has ended: another process may have registered before the one
    /// that the activator has started, which has given up.
    pub(super) fn verify(&mut self, name: &str, now: Instant) -> Actions<W> {
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

    /// Takes the death of a process that an activator has started; an activator of an old version does not say which.
    /// Returns whether it was the registered one.
    pub(crate) fn died(
        &mut self,
        name: &str,
        pid: Option<i32>,
        now: Instant,
    ) -> (bool, Actions<W>) {
        self.counts.deaths += 1;
        let has_followers = !self.followers_starts(name).is_empty();
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
        let is_awaited = |start: &Start<W>| has_followers || !start.waiters.is_empty();
        if let Some(start) = &server.start
            && (start.pid == pid && pid.is_some())
            && (start.claim == Claim::Alone && !is_awaited(start))
        {
            // It was told late, and may have registered with an earlier process of the repository.
            server.start = None;
            return (false, Vec::new());
        }
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

    /// Takes all who wait, to be answered at the end of the process.
    pub(crate) fn end_waiting(&mut self) -> Actions<W> {
        let mut actions = Vec::new();
        self.is_ending = true;
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
}

/// Returns whether a server of JacORB, whose full name is its mark with the implementation and the path of the POA, ends under
/// the path alone.
fn is_of_jacorb(full: &str, path: &str) -> bool {
    let named = full.strip_prefix(crate::key::JACORB);
    named.is_some_and(|named| named.split_once('/').is_some_and(|(_, own)| own == path))
}
