//! Lists of servers, in parts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Poa, Response, SystemException};

use super::engine::Engine;
use super::outcome::Answered;
use super::server::Server;
use super::waiter::Waiter;
use crate::implementation_repository::{
    ServerActiveStatus, ServerInformation, ServerInformationIterator,
    ServerInformationIteratorServant,
};

/// Maximum number of iterators; the oldest one ends for another.
const MOST: usize = 64;

/// Answer to `list`.
type Listed = Response<(Vec<ServerInformation>, Option<ServerInformationIterator>)>;

/// Iterators over servers that clients have been given.
#[derive(Clone)]
pub(super) struct Listings {
    poa: Poa,
    /// Objects of the iterators, the oldest first.
    open: Arc<Mutex<VecDeque<ObjectRef>>>,
}

/// Servers that a client has not fetched yet.
struct Rest {
    servers: Mutex<VecDeque<ServerInformation>>,
    poa: Poa,
}

/// A list whose servers are being asked whether they live.
struct Asked {
    servers: Mutex<Vec<ServerInformation>>,
    left: AtomicUsize,
    response: Mutex<Option<Listed>>,
    how_many: u32,
    listings: Listings,
}

impl Listings {
    pub(super) fn of(poa: &Poa) -> Self {
        Self {
            poa: poa.clone(),
            open: Arc::default(),
        }
    }

    /// Answers with the first servers, and an iterator over those that are left; if asked to, when each has answered a ping. `all` if
    /// values of their environments are shown.
    pub(super) fn answer(
        &self,
        engine: &Engine,
        response: Listed,
        how_many: u32,
        ask: bool,
        all: bool,
    ) {
        let (servers, objects) = engine.with(|state| {
            let servers = state.servers.iter();
            let objects = servers.clone().map(|(_, server)| server.object().cloned());
            let objects: Vec<Option<ObjectRef>> = objects.collect();
            let servers = servers.map(|(name, server)| {
                let mut server = information(name, server);
                if !all {
                    withhold(&mut server);
                }
                server
            });
            (servers.collect::<Vec<_>>(), objects)
        });
        let asked = Arc::new(Asked {
            servers: Mutex::new(servers),
            // One more, which is taken off when all have been asked.
            left: AtomicUsize::new(1),
            response: Mutex::new(Some(response)),
            how_many,
            listings: self.clone(),
        });
        for (at, object) in objects.into_iter().enumerate().filter(|_| ask) {
            let Some(object) = object else { continue };
            asked.left.fetch_add(1, Ordering::AcqRel);
            let asked = asked.clone();
            engine.ping(object, move |answered| {
                if let Some(server) = asked.servers.lock().get_mut(at) {
                    server.active_status = match answered {
                        Answered::Alive => ServerActiveStatus::ActiveYes,
                        Answered::Silent => ServerActiveStatus::ActiveMaybe,
                        Answered::Dead => ServerActiveStatus::ActiveNo,
                    };
                }
                asked.one_less();
            });
        }
        asked.one_less();
    }

    /// Makes an iterator over the servers that are left, if there are any.
    fn iterator(
        &self,
        rest: Vec<ServerInformation>,
    ) -> Result<Option<ServerInformationIterator>, SystemException> {
        if rest.is_empty() {
            return Ok(None);
        }
        let rest = Rest {
            servers: Mutex::new(rest.into()),
            poa: self.poa.clone(),
        };
        let iterator: ServerInformationIterator = self.poa.activate(rest)?;
        let oldest = {
            let mut open = self.open.lock();
            open.push_back(iterator.as_object().clone());
            (open.len() > MOST).then(|| open.pop_front()).flatten()
        };
        if let Some(oldest) = oldest {
            // It may have been destroyed.
            let _ = self.poa.deactivate(&oldest);
        }
        Ok(Some(iterator))
    }
}

impl Asked {
    /// Counts one answer; the last one answers the client.
    fn one_less(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let Some(response) = self.response.lock().take() else {
            return;
        };
        let mut first = std::mem::take(&mut *self.servers.lock());
        let at = match usize::try_from(self.how_many) {
            Ok(0) | Err(_) => first.len(),
            Ok(most) => most.min(first.len()),
        };
        let rest = first.split_off(at);
        let iterator = self.listings.iterator(rest);
        let _has_gone = response.answer(iterator.map(|iterator| (first, iterator)));
    }
}

impl ServerInformationIteratorServant for Rest {
    fn next_n(&self, how_many: u32) -> Result<(bool, Vec<ServerInformation>), SystemException> {
        let mut servers = self.servers.lock();
        let most = match usize::try_from(how_many) {
            Ok(0) | Err(_) => servers.len(),
            Ok(most) => most.min(servers.len()),
        };
        let next = servers.drain(..most).collect();
        Ok((!servers.is_empty(), next))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let id = punctual::poa::Current.object_id()?;
        Ok(self.poa.deactivate_object(&id)?)
    }
}

/// Removes what is not for everybody: environments may have passwords in them.
pub(super) fn withhold(server: &mut ServerInformation) {
    for variable in &mut server.startup.environment {
        variable.value.clear();
    }
}

/// Returns what administrators see of a server.
pub(super) fn information(name: &str, server: &Server<Waiter>) -> ServerInformation {
    let place = server.run.as_ref().map(|run| &run.place);
    ServerInformation {
        server: name.to_owned(),
        startup: server.options.clone(),
        partial_ior: place.map(|place| place.partial.clone()).unwrap_or_default(),
        active_status: server.status(),
    }
}
