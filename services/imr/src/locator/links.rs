//! Servers of one process: one of them, the leader, has the command, and the others are started with it.
//!
//! A process with several persistent POAs registers each by its name. Only one of them need be added: those that register
//! from the same process and have no command of their own are linked to it, and an administrator links those that have not
//! registered yet.

use std::time::{Duration, Instant};

use super::outcome::{Action, By};
use super::server::{Claim, Run, Server, Start};
use super::state::State;
use crate::implementation_repository::{ActivationMode, StartupOptions};

/// Time within which the servers of a process register after the leader has.
const TOGETHER: Duration = Duration::from_secs(2);

impl<W> State<W> {
    /// Returns the links that follow from a registration: each server without a command that has registered from the same
    /// place, and the server that it is started with.
    pub(super) fn links_by(&self, registered: &str, peer: Option<&str>) -> Vec<(String, String)> {
        let Some(peer) = peer else { return Vec::new() };
        let is_there = |name: &str, server: &Server<W>| {
            let run = server.run.as_ref();
            name == registered || run.is_some_and(|run| run.peer.as_deref() == Some(peer))
        };
        let servers = self.servers.iter();
        let there = servers.filter(|(name, server)| is_there(name, server));
        let there: Vec<_> = there.collect();
        let mut leaders = there.iter().filter(|(_, server)| can_lead(server));
        // Two with commands may start the others; the one whose process is known has.
        let by_activator = leaders.clone().find(|(_, server)| {
            let of_start = server.start.is_some();
            of_start || server.run.as_ref().is_some_and(|run| run.is_followed)
        });
        let Some((leader, _)) = by_activator.or_else(|| leaders.next()) else {
            return Vec::new();
        };
        let mut links = Vec::new();
        let is_known = self.servers.contains_key(registered);
        if !is_known {
            links.push((registered.to_owned(), (*leader).clone()));
        }
        let others = there.iter().filter(|(_, server)| {
            let options = &server.options;
            options.command_line.is_empty() && server.leader.as_ref() != Some(leader)
        });
        links.extend(others.map(|(name, _)| ((*name).clone(), (*leader).clone())));
        links
    }

    /// Has servers started with others.
    pub(super) fn link(&mut self, links: Vec<(String, String)>) {
        for (name, leader) in links {
            let server = self.servers.entry(name);
            let server = server.or_insert_with(|| Server::new(StartupOptions::default()));
            server.leader = Some(leader);
        }
    }

    /// Returns the server that a server without a command is started with.
    pub(super) fn leader(&self, name: &str) -> Option<&str> {
        let server = self.servers.get(name)?;
        let leader = server.leader.as_deref()?;
        let is_linked = server.options.command_line.is_empty() && leader != name;
        let can_start = self.servers.get(leader).is_some_and(can_lead);
        (is_linked && can_start).then_some(leader)
    }

    /// Takes one that wants a server to run that does not, and is started with a leader.
    pub(super) fn follow(
        &mut self,
        name: &str,
        leader: &str,
        waiter: (W, By),
        now: Instant,
        out: &mut Vec<Action<W>>,
    ) {
        let (number, limits) = (self.next(), self.limits);
        let Some(first) = self.servers.get(leader) else {
            return;
        };
        match (&first.start, &first.run) {
            (Some(_), _) => {}
            // It may make the POA on demand.
            (None, Some(run)) if run.number == 0 || now >= run.since + TOGETHER => {
                return self.request(leader, waiter, now, out);
            }
            (None, Some(_)) => {}
            (None, None) => {
                if let Err((failure, _)) = self.begin(leader, None, waiter.1, now, out) {
                    return out.push(Action::Answer(waiter.0, Err(failure)));
                }
            }
        }
        if let Some(server) = self.servers.get_mut(name) {
            server.start = Some(Start {
                number,
                pid: None,
                activator: String::new(),
                is_held: false,
                // That of the leader's start is up before.
                until: now + limits.start + limits.end,
                claim: Claim::Alone,
                may_be_made: false,
                waiters: vec![waiter],
            });
        }
    }

    /// Returns the numbers of the starts that have begun with that of a leader.
    pub(super) fn followers_starts(&self, leader: &str) -> Vec<(String, u64)> {
        let servers = self.servers.iter();
        let followers = servers.filter(|(_, server)| {
            server.leader.as_deref() == Some(leader) && server.options.command_line.is_empty()
        });
        let starts = followers.filter_map(|(name, server)| {
            let start = server.start.as_ref()?;
            Some((name.clone(), start.number))
        });
        starts.collect()
    }

    /// Returns the other servers of a process.
    pub(super) fn others_of(&self, name: &str, process: &Run) -> Vec<String> {
        let is_same = |run: &Run| {
            let by_object = run.place.object.is_some() && run.place.object == process.place.object;
            by_object || run.peer.is_some() && run.peer == process.peer
        };
        let servers = self.servers.iter();
        let others = servers
            .filter(|(one, server)| *one != name && server.run.as_ref().is_some_and(is_same));
        others.map(|(name, _)| name.clone()).collect()
    }
}

/// Returns whether other servers of its process can be started with a server.
fn can_lead<W>(server: &Server<W>) -> bool {
    let options = &server.options;
    !options.command_line.is_empty() && options.activation != ActivationMode::PerClient
}
