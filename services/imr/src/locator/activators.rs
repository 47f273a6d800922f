//! What activators tell: processes that they have started, and those that go on. Which of them there are.

use std::collections::BTreeMap;
use std::time::Instant;

use super::outcome::Action;
use super::server::{Claim, Start};
use super::state::{Actions, Activator, State, follows_end};
use crate::implementation_repository::{ActivationMode, StartupOptions};

impl<W> State<W> {
    /// Takes the process that an activator has started for a server. Activators tell processes in the order of their starts, but perhaps late
    /// or again, when the repository has been away: of several, the last ones are those of the starts in progress. One without a start was
    /// started for an earlier process of the repository; clients wait for it.
    pub(crate) fn spawned(&mut self, name: &str, pid: i32, now: Instant) {
        let activator = {
            let server = self.servers.get(name);
            server.and_then(|server| starter(&self.activators, &server.options))
        };
        let is_shared = self.is_shared;
        let Some(server) = self.servers.get_mut(name) else {
            return;
        };
        let has = |start: &Start<W>| start.pid == Some(pid);
        let leaves = server.leaving.as_ref().is_some_and(|one| one.pid == pid);
        if leaves || server.start.iter().chain(&server.own_starts).any(has) {
            return;
        }
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
        } else if let Some(start) = server.start.as_mut().filter(|start| !start.is_held) {
            start.pid = Some(pid);
        } else if !server.own_starts.is_empty() {
            // The first number was that of an earlier process.
            let mut next = Some(pid);
            for start in server.own_starts.iter_mut().rev() {
                std::mem::swap(&mut start.pid, &mut next);
            }
        } else if !is_shared && let Some(activator) = activator {
            self.goes_on(name, pid, &activator, now);
        }
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
                    claim: Claim::Alone,
                    may_be_made: false,
                    waiters: Vec::new(),
                });
            }
            _ => {}
        }
    }

    /// Takes an activator that registers, perhaps in place of an earlier one of its name. It is asked for the processes of starts that are in
    /// progress: they may have ended while no activator was there to tell it.
    pub(crate) fn activator_registered(
        &mut self,
        name: &str,
        activator: Activator,
        now: Instant,
    ) -> Actions<W> {
        let mut actions = match self.activators.insert(name.to_owned(), activator) {
            Some(_) => self.activator_changed(name, now),
            None => Vec::new(),
        };
        for (server, known) in &self.servers {
            let starts = known.start.iter().chain(&known.own_starts);
            // The end of a launcher's process says nothing.
            let its = starts.filter(|one| one.activator == name && follows_end(&known.options));
            let pids = its.filter_map(|start| start.pid);
            actions.extend(pids.map(|pid| Action::Look {
                name: server.clone(),
                activator: name.to_owned(),
                pid,
            }));
        }
        actions
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
}

/// Returns the name of the activator that starts a server.
pub(super) fn starter(
    activators: &BTreeMap<String, Activator>,
    options: &StartupOptions,
) -> Option<String> {
    let found = match &*options.activator {
        "" if activators.len() == 1 => activators.keys().next(),
        wanted => activators.get_key_value(wanted).map(|(name, _)| name),
    };
    found.cloned()
}

/// Returns why a server cannot be started that has no activator.
pub(super) fn without_starter(name: &str, options: &StartupOptions) -> String {
    match &*options.activator {
        "" => {
            format!("`{name}` cannot be started: it names no activator, and there is not just one")
        }
        wanted => format!("`{name}` cannot be started: there is no activator `{wanted}`"),
    }
}
