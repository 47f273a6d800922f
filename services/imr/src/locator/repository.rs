//! What administrators, servers and activators do to the repository, each after a check of their rights.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use punctual::poa::request_peer;
use punctual::{Interface, SystemException, SystemExceptionKind};

use super::calls;
use super::draft::running;
use super::engine::{Engine, record, set_run, text_of};
use super::listing::Listings;
use super::outcome::Place;
use super::server::Server;
use super::state::{Activator as Known, Process, State};
use super::storage::Kept;
use super::waiter::Waiter;
use crate::access::{self, Access};
use crate::implementation_repository::{ActivationMode, Activator, ServerObject, StartupOptions};
use crate::kept;
use crate::key::is_name;
use crate::mistake::{Mistake, check_server};

/// Function that ends the process of the repository.
pub(super) type End = Arc<dyn Fn() + Send + Sync>;

/// Repository of servers and activators, and those that may change it.
pub(super) struct Repository {
    pub(super) engine: Engine,
    pub(super) access: Access,
    /// Takes only servers that were added.
    pub(super) added_only: bool,
    pub(super) listings: Listings,
    pub(super) end: Option<End>,
}

/// Error of an operation on a server: there is none of the name, or an exception.
pub(super) enum Wrong {
    NotFound,
    Cannot(String),
    System(SystemException),
}

impl From<SystemException> for Wrong {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl Repository {
    pub(super) fn check_administrator(&self) -> Result<(), SystemException> {
        access::check(
            &self.access.administrators,
            "administer the Implementation Repository",
        )
    }

    fn check_server(&self) -> Result<(), SystemException> {
        access::check(
            &self.access.servers,
            "register servers with the Implementation Repository",
        )
    }

    pub(super) fn resolved(&self, name: &str) -> Result<String, Wrong> {
        let found = self.engine.with(|state| state.resolved(name));
        found.ok_or(Wrong::NotFound)
    }

    /// Checks that a server of this name is known, or may become so.
    fn check_room(&self, name: &str) -> Result<(), SystemException> {
        if !is_name(name) {
            return Err(SystemExceptionKind::BadParam.because("that is no name of a server"));
        }
        self.engine.with(|state| {
            let most = state.limits.servers;
            match state.servers.contains_key(name) || state.servers.len() < most {
                true => Ok(()),
                false => Err(SystemExceptionKind::ImpLimit
                    .because(format!("there are {most} servers already"))),
            }
        })
    }

    pub(super) fn add(&self, name: &str, options: &StartupOptions) -> Result<(), Wrong> {
        self.check_administrator()?;
        let mistake = |mistake: Mistake| SystemExceptionKind::BadParam.because(mistake.to_string());
        check_server(name, options).map_err(mistake)?;
        let is_shared = self.engine.with(|state| state.is_shared);
        if is_shared && options.activation == ActivationMode::PerClient {
            let why = "repositories that share their servers start none for each client";
            return Err(SystemExceptionKind::BadParam.because(why).into());
        }
        self.check_room(name)?;
        let change = |state: &State<Waiter>| {
            let mut record = state.servers.get(name).map(record).unwrap_or_default();
            record.options = options.clone();
            let forgiven = Kept::Forgiven(name.to_owned());
            vec![Kept::Server(name.to_owned(), Some(record)), forgiven]
        };
        self.engine.change(change, |state, _| {
            let server = state.servers.entry(name.to_owned());
            let server = server.or_insert_with(|| Server::new(StartupOptions::default()));
            server.options = options.clone();
            server.failures.forgive();
            Vec::new()
        })?;
        Ok(())
    }

    /// Has servers started with another one of their process: those that are not there are added, and lose their commands.
    pub(super) fn link(&self, leader: &str, peers: &[String]) -> Result<(), Wrong> {
        self.check_administrator()?;
        let leader = self.resolved(leader)?;
        for peer in peers {
            self.check_room(peer)?;
            let is_linked = self.engine.with(|state| {
                let mut servers = state.servers.values();
                let leads = servers.any(|server| server.leader.as_ref() == Some(peer));
                leads || state.leader(&leader).is_some()
            });
            if *peer == leader || is_linked {
                let why = format!(
                    "`{peer}` is not started with `{leader}`, as one starts with the other"
                );
                return Err(Wrong::Cannot(why));
            }
        }
        let changes = |state: &State<Waiter>| {
            let each = peers.iter().flat_map(|peer| {
                let mut server = state.servers.get(peer).map(record).unwrap_or_default();
                server.options = StartupOptions::default();
                let leader = leader.clone();
                let link = Kept::Link(peer.clone(), Some(kept::Link { leader }));
                [Kept::Server(peer.clone(), Some(server)), link]
            });
            each.collect()
        };
        self.engine.change(changes, |state, _| {
            let links = peers.iter().map(|peer| (peer.clone(), leader.clone()));
            state.link(links.collect());
            for peer in peers {
                if let Some(server) = state.servers.get_mut(peer) {
                    server.options = StartupOptions::default();
                }
            }
            Vec::new()
        })?;
        Ok(())
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), Wrong> {
        self.check_administrator()?;
        let name = self.resolved(name)?;
        Ok(remove(&self.engine, &name)?)
    }

    pub(super) fn register(
        &self,
        name: &str,
        partial: &str,
        object: Option<&ServerObject>,
    ) -> Result<(), Wrong> {
        self.check_server()?;
        self.check_room(name)?;
        if object.is_none() && partial.is_empty() {
            return Err(SystemExceptionKind::BadParam
                .because("the server does not say where it is")
                .into());
        }
        let is_known = self.engine.with(|state| state.servers.contains_key(name));
        if !is_known && self.added_only {
            return Err(Wrong::NotFound);
        }
        let place = Place {
            partial: partial.to_owned(),
            object: object.map(|object| object.as_object().clone()),
        };
        let (peer, links) = (peer(), RefCell::default());
        let change = |state: &State<Waiter>| {
            let server = state.servers.get(name);
            let mut record = server.map(record).unwrap_or_default();
            let pid = server.and_then(|server| server.start.as_ref()?.pid);
            set_run(&mut record, &place, pid);
            let process = state.registration(name, place.clone(), peer.clone(), Instant::now());
            let mut changes = vec![
                Kept::Server(name.to_owned(), Some(record)),
                Kept::Process(name.to_owned(), running(&process)),
            ];
            let found = state.links_by(name, peer.as_deref());
            let linked = found.iter().cloned();
            changes
                .extend(linked.map(|(name, leader)| Kept::Link(name, Some(kept::Link { leader }))));
            links.replace(found);
            changes
        };
        let registered = place.clone();
        self.engine.change(change, |state, now| {
            state.link(links.take());
            state.registered(name, registered, peer.clone(), now)
        })?;
        tracing::info!("`{name}` runs at {partial}");
        Ok(())
    }

    pub(super) fn ending(&self, name: &str) -> Result<(), Wrong> {
        self.check_server()?;
        let mut ended = Err(Wrong::NotFound);
        let peer = peer();
        self.engine.event(
            |state, now| match state.ending(name, peer.as_deref(), now) {
                Some((name, actions)) => {
                    ended = Ok(name);
                    actions
                }
                None => Vec::new(),
            },
        );
        if let Some(name) = ended? {
            tracing::info!("`{name}` ends");
            self.engine.store_end(&name);
            self.engine.saved(&name)?;
        }
        Ok(())
    }

    /// Asks a server to end, if it runs.
    pub(super) fn shut_down(&self, name: &str) -> Result<(), Wrong> {
        self.check_administrator()?;
        let name = self.resolved(name)?;
        let object = self.engine.with(|state| {
            let run = state.servers.get_mut(&name)?.run.as_mut()?;
            run.is_to_end = true;
            run.place.object.clone()
        });
        if let Some(object) = object {
            self.engine.end_server(object);
        }
        Ok(())
    }

    /// Sends a signal to a server's process; `then` gets the outcome.
    pub(super) fn signal(
        &self,
        name: &str,
        signal: i16,
        then: impl FnOnce(Result<String, Wrong>) + Send + 'static,
    ) {
        let found = self.check_administrator().map_err(Wrong::from);
        let found = found.and_then(|()| {
            let name = self.resolved(name)?;
            let process = self.engine.with(|state| {
                let process = state.process_of(&name)?;
                let server = state.servers.get_mut(&process.started_as);
                if let Some(run) = server.and_then(|server| server.run.as_mut()) {
                    run.is_to_end |= signal != 0;
                }
                Ok(process)
            });
            let process = process.map_err(|why: &str| Wrong::Cannot(why.to_owned()))?;
            Ok((name, process))
        });
        let (name, process) = match found {
            Ok(found) => found,
            Err(wrong) => return then(Err(wrong)),
        };
        let Process {
            started_as,
            pid,
            activator,
        } = process;
        self.engine
            .kill(&started_as, &activator, pid, signal, move |done| {
                then(match done {
                    Ok(true) => Ok(name),
                    Ok(false) => Err(Wrong::Cannot(format!(
                        "its activator does not know process {pid}, which may have ended, or was started before the activator"
                    ))),
                    Err(why) => Err(Wrong::Cannot(why)),
                });
            });
    }

    pub(super) fn register_activator(
        &self,
        name: &str,
        activator: Option<&Activator>,
    ) -> Result<i32, SystemException> {
        self.check_administrator()?;
        let nil = || SystemExceptionKind::BadParam.because("the activator is nil");
        let activator = activator.ok_or_else(nil)?.as_object().clone();
        if !is_name(name) {
            return Err(SystemExceptionKind::BadParam.because("that is no name of an activator"));
        }
        let known = self.engine.with(|state| {
            let most = state.limits.activators;
            match (state.activators.get(name), state.activators.len() < most) {
                (Some(known), _) => Ok(Some(known.clone())),
                (None, true) => Ok(None),
                (None, false) => Err(SystemExceptionKind::ImpLimit
                    .because(format!("there are {most} activators already"))),
            }
        })?;
        // The servers that start with it were started, and may have been stopped since.
        let is_same = |known: &Known| known.object.as_ref() == Some(&activator);
        let is_same = known.as_ref().is_some_and(is_same);
        let token = match known {
            // It registers again and again, in case that the repository has forgotten it. Another token lets it know that this process of the
            // repository is a new one.
            Some(known) if is_same && !known.is_stored => return Ok(known.token),
            Some(Known { object: None, .. }) => {
                let why = "the repository itself is the activator of this name";
                return Err(SystemExceptionKind::BadParam.because(why));
            }
            Some(known) => known.token.wrapping_add(1),
            None => 1,
        };
        let reference = text_of(&activator);
        let record = kept::Activator { reference, token };
        let change = Kept::Activator(name.to_owned(), Some(record));
        self.engine.change(
            |_| vec![change.clone()],
            |state, now| {
                let known = Known {
                    token,
                    object: Some(activator),
                    is_stored: false,
                };
                state.activator_registered(name, known, now)
            },
        )?;
        tracing::info!("the activator `{name}` has registered");
        if !is_same {
            self.engine.start_with(name);
        }
        Ok(token)
    }

    pub(super) fn unregister_activator(
        &self,
        name: &str,
        token: i32,
    ) -> Result<(), SystemException> {
        self.check_administrator()?;
        let is_it = |state: &State<Waiter>| {
            let known = state.activators.get(name);
            known.is_some_and(|known| known.token == token && known.object.is_some())
        };
        if !self.engine.with(|state| is_it(state)) {
            // A later one has its name.
            return Ok(());
        }
        self.engine.change(
            |_| vec![Kept::Activator(name.to_owned(), None)],
            |state, now| match is_it(state) {
                true => {
                    state.activators.remove(name);
                    state.activator_changed(name, now)
                }
                false => Vec::new(),
            },
        )
    }

    pub(super) fn spawned(&self, name: &str, pid: i32) -> Result<(), SystemException> {
        self.check_administrator()?;
        self.engine.catch_up(name, Some(pid))?;
        self.engine.spawned(name, pid);
        self.engine.saved(name)
    }

    pub(super) fn died(&self, name: &str, pid: Option<i32>) -> Result<(), SystemException> {
        self.check_administrator()?;
        self.engine.catch_up(name, pid)?;
        died(&self.engine, name, pid);
        // If it is not stored, the activator tells it again.
        self.engine.saved(name)
    }

    /// Ends the process of the repository, and before it all servers and all activators, where these are meant.
    pub(super) fn end_all(&self, activators: bool, servers: bool) {
        let (of_servers, of_activators) = self.engine.with(|state| {
            let servers = state
                .servers
                .values()
                .filter_map(|server| server.object().cloned());
            let activators = state
                .activators
                .values()
                .filter_map(|one| one.object.clone());
            (servers.collect::<Vec<_>>(), activators.collect::<Vec<_>>())
        });
        if servers {
            of_servers.iter().for_each(calls::end_server);
        }
        for activator in of_activators.into_iter().filter(|_| activators) {
            calls::end_activator(&activator);
        }
        if let Some(end) = &self.end {
            end();
        }
    }
}

/// Removes a server.
pub(super) fn remove(engine: &Engine, name: &str) -> Result<(), SystemException> {
    engine.change(
        |_| {
            let name = name.to_owned();
            vec![Kept::Server(name.clone(), None), Kept::Link(name, None)]
        },
        |state, now| state.removed(name, now),
    )
}

/// Takes the death of a process that an activator has started.
pub(super) fn died(engine: &Engine, name: &str, pid: Option<i32>) {
    let mut was_registered = false;
    engine.event(|state, now| {
        let (registered, actions) = state.died(name, pid, now);
        was_registered = registered;
        actions
    });
    if was_registered {
        tracing::info!("the process of `{name}` has ended");
        engine.store_end(name);
    }
}

/// Returns the address of the peer whose request the thread serves.
fn peer() -> Option<String> {
    request_peer().map(|peer| peer.address.to_string())
}
