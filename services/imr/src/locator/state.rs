//! State of a repository: servers and activators, and the events that change them.
//!
//! It makes no calls, and reads no clock: each event returns the [`Action`]s that follow from it, to be made without the lock
//! of the state. What belongs to starts, ends and links stands beside it. Invariants:
//! - Of a server there is at most one start in progress, except in the mode PER_CLIENT; all that come meanwhile wait for it.
//! - A client is led to a process with a server object only after a ping that began when the client had come, or later.
//! - Each that waits is answered once: by a registration, a failure of the start, or its time-out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use punctual::{ObjectRef, minor};

use super::outcome::{Action, By, Failure, Place};
use super::server::{Ping, Run, Server};
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
    /// True if other repositories share the servers.
    pub(crate) is_shared: bool,
    /// True when this repository is about to end, and has no clients that wait any more.
    pub(crate) is_ending: bool,
    /// Those that live.
    pub(crate) locators: BTreeSet<String>,
    /// Number of the last start, ping or registration.
    last: u64,
}

/// Activator that has registered.
#[derive(Clone, Debug)]
pub(crate) struct Activator {
    pub(crate) token: i32,
    /// Its object; `None` for the one in this process.
    pub(crate) object: Option<ObjectRef>,
    /// True if the store had it, and it has not registered since.
    pub(crate) is_stored: bool,
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
            is_shared: false,
            is_ending: false,
            locators: BTreeSet::new(),
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
    pub(super) fn is_of_use(&self, name: &str) -> bool {
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
        let is_own = server.options.activation == ActivationMode::PerClient && !self.is_shared;
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

    /// Takes the registration of a process.
    pub(crate) fn registered(
        &mut self,
        name: &str,
        place: Place,
        peer: Option<String>,
        now: Instant,
    ) -> Actions<W> {
        let number = self.next();
        let is_shared = self.is_shared;
        let server = self.server(name);
        server.failures.held_until = None;
        let forward = |(waiter, _): (W, By)| Action::Answer(waiter, Ok(place.clone()));
        if server.options.activation == ActivationMode::PerClient
            && !is_shared
            && let Some(start) = server.own_starts.pop_front()
        {
            let actions = start.waiters.into_iter().map(forward).collect();
            return self.counted(actions);
        }
        let run = self.registration(name, place.clone(), peer, now);
        let server = self.server(name);
        server.run = Some(Run { number, ..run });
        let start = server.start.take();
        // It has just called, and so it lives.
        let pinged = server.ping.take().map(|ping| ping.waiters);
        let started = start.map(|start| start.waiters);
        let waiters = pinged.into_iter().chain(started).flatten();
        let actions = waiters.map(forward).collect();
        self.counted(actions)
    }

    /// Returns the process that a registration makes known.
    pub(super) fn registration(
        &self,
        name: &str,
        place: Place,
        peer: Option<String>,
        now: Instant,
    ) -> Run {
        let server = self.servers.get(name);
        let start = server.and_then(|server| server.start.as_ref());
        let follows = server.is_some_and(|server| follows_end(&server.options));
        let activator = start.map(|start| start.activator.clone());
        Run {
            number: self.last,
            place,
            pid: start.and_then(|start| start.pid),
            activator: activator.unwrap_or_default(),
            is_followed: start.is_some() && follows,
            awaits_pid: start.is_some_and(|start| start.pid.is_none() && !start.is_held),
            peer,
            since: now,
            ended: None,
            is_to_end: false,
            is_verified: true,
        }
    }

    /// Returns a server, which is added if need be.
    pub(super) fn server(&mut self, name: &str) -> &mut Server<W> {
        let server = self.servers.entry(name.to_owned());
        server.or_insert_with(|| Server::new(StartupOptions::default()))
    }

    /// Counts the answers among actions.
    pub(super) fn counted(&mut self, actions: Actions<W>) -> Actions<W> {
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

/// Returns whether an activator notices the end of a server's process: that of a launcher means nothing.
pub(super) fn follows_end(options: &StartupOptions) -> bool {
    !unmarked(&options.command_line).1
}

/// Returns whether a server's full name is an id, a colon and the name.
pub(super) fn is_behind_id(full: &str, name: &str) -> bool {
    let behind = full.strip_suffix(name);
    behind.is_some_and(|before| before.strip_suffix(':').is_some_and(|id| !id.contains(':')))
}
