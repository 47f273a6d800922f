//! Changes that other repositories have made, and what follows from them here.

use std::time::Instant;

use punctual::{ObjectRef, Orb};
use punctual_host::store::{Cdr, Record};

use super::cluster::{ACTIVATOR, FAILED, LINK, LOCATOR, PROCESS, SERVER, START, Write};
use super::outcome::{Action, Place};
use super::server::{Claim, Leaving, Start};
use super::state::{Actions, Activator, State};
use crate::kept;

/// Record that has changed; without a value it was removed.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// A repository has a sign of life.
    Lives(String),
    Server(String, Option<kept::Server>),
    Link(String, Option<kept::Link>),
    Activator(String, Option<kept::Activator>),
    Failed(String, Option<kept::Failed>),
    Process(String, Option<kept::Process>),
    Start(String, Option<kept::Start>),
    /// A repository has none any more.
    Dies(String),
}

/// Time beyond that of a start after which this repository ends a start of another one that has not said how it went.
const GRACE: u32 = 2;

impl News {
    /// Reads a changed record; `None` for one that is none of these.
    pub(super) fn of(write: &Write) -> Option<Self> {
        let (table, name) = write.key.split_once('/')?;
        let name = name.to_owned();
        Some(match table {
            LOCATOR if write.value.is_some() => Self::Lives(name),
            LOCATOR => Self::Dies(name),
            SERVER => Self::Server(name, read(write)?),
            LINK => Self::Link(name, read(write)?),
            ACTIVATOR => Self::Activator(name, read(write)?),
            FAILED => Self::Failed(name, read(write)?),
            PROCESS => Self::Process(name, read(write)?),
            START => Self::Start(name, read(write)?),
            _ => return None,
        })
    }

    /// Returns the place among those of one revision: the end of a start comes after what became of it.
    pub(super) fn order(&self) -> u8 {
        match self {
            Self::Lives(_) => 0,
            Self::Server(..) => 1,
            Self::Link(..) => 2,
            Self::Activator(..) => 3,
            Self::Failed(..) => 4,
            Self::Process(..) => 5,
            Self::Start(..) => 6,
            Self::Dies(_) => 7,
        }
    }
}

/// Reads the value of a record: `None` for one that cannot be read, and for one without a value.
fn read<T>(write: &Write) -> Option<Option<T>>
where
    Cdr<T>: Record,
{
    let Some(bytes) = &write.value else {
        return Some(None);
    };
    let value = <Cdr<T> as Record>::decode(bytes).map(|Cdr(value)| Some(value));
    if value.is_none() {
        tracing::warn!("undecodable record `{}` in etcd is ignored", write.key);
    }
    value
}

/// Returns the object of a reference as text.
fn object(orb: &Orb, text: &str) -> Option<ObjectRef> {
    match text {
        "" => None,
        text => orb.string_to_object(text).ok(),
    }
}

impl<W> State<W> {
    /// Takes a change that another repository, `own` or an earlier process of it has made. With `is_news` it has been made just now.
    pub(super) fn told(
        &mut self,
        news: News,
        (own, orb): (&str, &Orb),
        is_news: bool,
        now: Instant,
    ) -> Actions<W> {
        match news {
            News::Lives(locator) => {
                self.locators.insert(locator);
                Vec::new()
            }
            News::Dies(locator) => self.locator_died(&locator),
            News::Server(name, Some(kept)) => {
                let server = self.server(&name);
                if server.options != kept.options {
                    server.options = kept.options;
                    server.failures.forgive();
                }
                Vec::new()
            }
            News::Server(name, None) => self.removed(&name, now),
            News::Link(name, link) => {
                self.server(&name).leader = link.map(|link| link.leader);
                Vec::new()
            }
            News::Activator(name, Some(kept)) => {
                let activator = Activator {
                    token: kept.token,
                    object: object(orb, &kept.reference),
                    is_stored: false,
                };
                self.activator_registered(&name, activator, now)
            }
            News::Activator(name, None) => {
                self.activators.remove(&name);
                self.activator_changed(&name, now)
            }
            News::Failed(name, Some(kept)) => self.failed_elsewhere(&name, &kept, is_news, now),
            News::Failed(name, None) => {
                if let Some(server) = self.servers.get_mut(&name) {
                    server.failures.forgive();
                }
                Vec::new()
            }
            News::Process(name, Some(kept)) if kept.is_leaving => self.leaves(&name, &kept, now),
            News::Process(name, Some(kept)) => {
                let place = Place {
                    partial: kept.partial_ior.clone(),
                    object: object(orb, &kept.server_object),
                };
                self.runs(&name, place, &kept, is_news, now)
            }
            News::Process(name, None) => {
                let mut actions = self.ended(&name, now);
                actions.extend(self.left(&name, now));
                actions
            }
            News::Start(name, Some(kept)) if kept.locator == own => {
                let start = self.server(&name).start.as_mut();
                let is_it = start.filter(|start| start.claim.id() == Some(kept.id));
                if let Some(start) = is_it
                    && kept.pid != 0
                {
                    // The activator has told it another repository.
                    start.pid = Some(kept.pid);
                }
                // A change without an answer may have been made: it is undone unless it is wanted still.
                vec![Action::Store { name }]
            }
            News::Start(name, Some(kept)) => self.starts_elsewhere(&name, kept, now),
            News::Start(name, None) => self.start_is_over(&name, now),
        }
    }

    /// Takes a registration with another repository, or what has become known of the process since.
    fn runs(
        &mut self,
        name: &str,
        place: Place,
        kept: &kept::Process,
        is_news: bool,
        now: Instant,
    ) -> Actions<W> {
        let known = self.server(name).run.as_ref();
        let is_same = known.is_some_and(|run| {
            run.place.partial == place.partial && run.place.object == place.object
        });
        let mut actions = Vec::new();
        if !is_same {
            let peer = Some(kept.peer.clone()).filter(|peer| !peer.is_empty());
            actions = self.registered(name, place, peer, now);
            // A start of this repository may be over by it.
            self.store(name, &mut actions);
        }
        if let Some(run) = &mut self.server(name).run {
            run.pid = Some(kept.pid).filter(|pid| *pid != 0);
            run.activator.clone_from(&kept.activator);
            run.is_followed = kept.is_followed;
            run.awaits_pid = kept.awaits_pid;
            if !is_news {
                // As one that a store has: it is asked before a client is led to it.
                run.number = 0;
                run.is_verified = false;
            }
        }
        actions
    }

    /// Takes that a process is about to end.
    fn leaves(&mut self, name: &str, kept: &kept::Process, now: Instant) -> Actions<W> {
        let until = now + self.limits.end;
        let leaving = Leaving {
            pid: kept.pid,
            activator: kept.activator.clone(),
            until,
        };
        let actions = self.ended(name, now);
        self.server(name).leaving = Some(leaving);
        actions
    }

    /// Takes that another repository has begun a start, or has learned its process.
    fn starts_elsewhere(&mut self, name: &str, kept: kept::Start, now: Instant) -> Actions<W> {
        let number = self.next();
        let until = now + self.limits.start * GRACE;
        let lives = self.locators.contains(&kept.locator);
        let server = self.server(name);
        let pid = Some(kept.pid).filter(|pid| *pid != 0);
        let claim = match lives {
            true => Claim::Elsewhere(kept.id, kept.locator),
            // It has died in the middle.
            false => Claim::Wanted,
        };
        match &mut server.start {
            Some(start) if start.claim == Claim::Alone => return Vec::new(),
            Some(start) => {
                start.claim = claim;
                start.pid = pid.or(start.pid);
                start.activator = kept.activator;
                (start.is_held, start.until) = (false, until);
            }
            None if server.run.is_some() => return Vec::new(),
            None => {
                server.start = Some(Start {
                    number,
                    pid,
                    activator: kept.activator,
                    is_held: false,
                    until,
                    claim,
                    may_be_made: false,
                    waiters: Vec::new(),
                });
            }
        }
        match lives {
            true => Vec::new(),
            false => self.taken_over(name),
        }
    }

    /// Takes that a repository has died: its starts are taken over.
    fn locator_died(&mut self, locator: &str) -> Actions<W> {
        self.locators.remove(locator);
        let mut orphans = Vec::new();
        for (name, server) in &mut self.servers {
            let start = server.start.as_mut();
            let of_it = start.filter(
                |start| matches!(&start.claim, Claim::Elsewhere(_, other) if other == locator),
            );
            if let Some(start) = of_it {
                start.claim = Claim::Wanted;
                orphans.push(name.clone());
            }
        }
        let actions = orphans.iter().flat_map(|name| self.taken_over(name));
        actions.collect()
    }

    fn taken_over(&mut self, name: &str) -> Actions<W> {
        let server = self.servers.get(name);
        let Some((server, start)) = server.and_then(|one| Some((one, one.start.as_ref()?))) else {
            return Vec::new();
        };
        vec![Action::Start {
            number: start.number,
            name: name.to_owned(),
            activator: start.activator.clone(),
            options: server.options.clone(),
        }]
    }

    /// Takes that another repository has seen a start fail.
    fn failed_elsewhere(
        &mut self,
        name: &str,
        kept: &kept::Failed,
        is_news: bool,
        now: Instant,
    ) -> Actions<W> {
        let limits = self.limits;
        let Some(server) = self.servers.get_mut(name).filter(|_| is_news) else {
            return Vec::new();
        };
        let start = server.start.as_ref();
        let number = start
            .filter(|start| start.claim.id() == Some(kept.id))
            .map(|start| start.number);
        let Some(number) = number else {
            server.failures.note(&kept.reason, &limits, now);
            return Vec::new();
        };
        let actions = self.end_start(name, number, kept.minor, &kept.reason, now);
        // All know it already.
        self.server(name).failed = None;
        actions
    }

    /// Takes that a start is over: its waiters were answered if it has succeeded or failed.
    fn start_is_over(&mut self, name: &str, now: Instant) -> Actions<W> {
        let mut actions = Vec::new();
        let Some(server) = self.servers.get_mut(name) else {
            return actions;
        };
        let start = server.start.take_if(|start| start.claim.id().is_some());
        for waiter in start.into_iter().flat_map(|start| start.waiters) {
            self.request(name, waiter, now, &mut actions);
        }
        self.counted(actions)
    }
}
