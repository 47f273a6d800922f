//! The endpoints that a lane listens at.

use super::publish::{Named, alternates, published};
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::reactors::{Reactors, ServingThreads, not_listening};
use crate::policy::Security;
use crate::profile::{LaneId, ProfileEndpoint, SecurityRequirement};
use crate::protocol::{Pair, of_acceptors};
use punctual_link::{Acceptor, Address, Places};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Endpoints at which one lane listens.
#[derive(Debug)]
pub(crate) struct Endpoints {
    state: Mutex<State>,
    /// Number of times that an endpoint was opened or closed.
    changes: AtomicU64,
    /// Identifier of the lane in its thread pool, if the lane belongs to one.
    lane: Option<LaneId>,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<OpenEndpoint>,
    /// True if the endpoints of the configuration have been opened.
    opened: bool,
    next: u64,
    closed: bool,
}

/// Open endpoint at which a lane listens.
#[derive(Clone, Debug)]
pub(crate) struct OpenEndpoint {
    /// Number of the endpoint in its lane; connections record it.
    pub(crate) number: u64,
    pub(crate) endpoint: ListenEndpoint,
    pub(crate) pair: Arc<Pair>,
    pub(in crate::lane) published: ProfileEndpoint,
    pub(crate) acceptor: Arc<dyn Acceptor>,
    /// Threads that serve the endpoint's connections. `None` once the endpoint is closed.
    pub(crate) threads: Option<ServingThreads>,
}

/// Function that starts to accept connections at an endpoint.
pub(crate) type Accept<'a> = dyn Fn(&OpenEndpoint) -> Result<(), SystemException> + 'a;

impl Endpoints {
    /// Makes an empty set of endpoints, for a lane of a thread pool if `lane` is given.
    pub(super) fn new(lane: Option<LaneId>) -> Self {
        Self {
            state: Mutex::default(),
            changes: AtomicU64::new(0),
            lane,
        }
    }

    /// Opens the given endpoints of the configuration; returns `false` if that was done before.
    pub(super) fn open(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoints: Vec<ListenEndpoint>,
        accept: &Accept<'_>,
    ) -> Result<bool, SystemException> {
        let mut state = self.lock();
        if state.opened {
            return Ok(false);
        }
        // Either the thread that ends the ORB has seen this lane, or this check sees that the ORB
        // ends.
        broker.check_running()?;
        if state.closed {
            return Ok(false);
        }
        let begin = state.next;
        let opened: Result<Vec<OpenEndpoint>, SystemException> = (begin..)
            .zip(endpoints)
            .map(|(number, endpoint)| self.open_one((broker, reactors), number, endpoint))
            .collect();
        let opened = opened?;
        state.next += u64::try_from(opened.len()).unwrap_or_default();
        let accepting = opened.iter().try_for_each(accept);
        // If one fails, the endpoints that already accept are closed too.
        accepting.inspect_err(|_| opened.iter().for_each(|one| one.acceptor.close()))?;
        state.open.extend(opened);
        state.opened = true;
        self.have_changed();
        Ok(true)
    }

    /// Opens one more endpoint, and returns it with its actual address.
    pub(super) fn add(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoint: ListenEndpoint,
        accept: &Accept<'_>,
    ) -> Result<ListenEndpoint, SystemException> {
        let mut state = self.lock();
        broker.check_running()?;
        let one = self.open_one((broker, reactors), state.next, endpoint)?;
        state.next += 1;
        accept(&one)?;
        let real = one.real();
        state.open.push(one);
        self.have_changed();
        Ok(real)
    }

    /// Closes the endpoints for which `is_meant` returns `true`, and returns their numbers.
    pub(super) fn retire(&self, is_meant: impl Fn(&OpenEndpoint) -> bool) -> Vec<u64> {
        let gone: Vec<OpenEndpoint> = {
            let mut state = self.lock();
            let (gone, kept) = state.open.drain(..).partition(is_meant);
            state.open = kept;
            self.have_changed();
            gone
        };
        gone.iter().for_each(|one| one.acceptor.close());
        gone.iter().map(|one| one.number).collect()
    }

    /// Closes all endpoints of the lane.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for open in &mut state.open {
            open.acceptor.close();
            // A pool ends with the last endpoint or connection that it serves.
            open.threads = None;
        }
    }

    /// Returns `true` if the endpoints of the configuration have been opened.
    pub(in crate::lane) fn are_opened(&self) -> bool {
        self.lock().opened
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Returns `true` if the endpoint with this number is still open.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        self.lock().open.iter().any(|one| one.number == number)
    }

    /// Returns an open endpoint of the lane for this protocol.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn find(&self, protocol: &str) -> Option<OpenEndpoint> {
        let state = self.lock();
        let mut open = state.open.iter();
        open.find(|one| one.endpoint.protocol == protocol).cloned()
    }

    /// Returns all open endpoints of the lane, with their actual addresses.
    pub(crate) fn all(&self) -> Vec<ListenEndpoint> {
        self.lock().open.iter().map(OpenEndpoint::real).collect()
    }

    /// Returns the addresses of this link that references contain.
    pub(crate) fn published_by(&self, link: &str) -> Vec<Address> {
        let state = self.lock();
        let open = state.open.iter().filter(|one| one.pair.link.name() == link);
        open.map(|one| one.published.address.clone()).collect()
    }

    /// Returns `true` if references that contain this address mean an endpoint of this lane.
    pub(crate) fn is_at(&self, protocol: &str, address: &Address) -> bool {
        let is_meant = |open: &OpenEndpoint| {
            &*open.published.protocol == protocol && open.published.address == *address
        };
        self.lock().open.iter().any(is_meant)
    }

    /// Returns the number of times that an endpoint was opened or closed.
    pub(in crate::lane) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Returns the endpoints of the lane that are currently open.
    pub(in crate::lane) fn open_now(&self) -> Vec<OpenEndpoint> {
        self.lock().open.clone()
    }

    /// Counts a change of the endpoints. To be called under the lock, after the change.
    fn have_changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    fn open_one(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        number: u64,
        endpoint: ListenEndpoint,
    ) -> Result<OpenEndpoint, SystemException> {
        let pair = broker
            .protocols
            .now()
            .pair(&endpoint.protocol)
            .map_err(|error| not_listening(&endpoint, &error))?;
        if broker.config().security == Security::Require && pair.is_in_clear() {
            return Err(not_listening(&endpoint, &endpoint.in_clear()));
        }
        let configured = of_acceptors(&*pair.link, &broker.config().link_properties);
        let properties = endpoint.properties(&configured);
        let threads = reactors.serving_threads(broker, &endpoint, &pair, &properties)?;
        let mut listened = Err(None);
        for address in endpoint.addresses(&*pair.link) {
            match pair.link.listen(&address, &properties) {
                Ok(acceptor) => {
                    listened = Ok(acceptor);
                    break;
                }
                Err(error) => listened = Err(Some(error)),
            }
        }
        let acceptor: Arc<dyn Acceptor> = match listened {
            Ok(acceptor) => acceptor.into(),
            Err(Some(error)) => return Err(not_listening(&endpoint, &error)),
            Err(None) => return Err(not_listening(&endpoint, &"no address to try")),
        };
        let mut published = published(&endpoint, &pair, acceptor.address());
        published.qualities.priority = endpoint.priority();
        published.qualities.lane = self.lane;
        if acceptor.demands_trust_in_client() {
            published = published.with_security(SecurityRequirement::OF_TLS.with_trust_in_client());
        }
        Ok(OpenEndpoint {
            number,
            published,
            endpoint,
            pair: Arc::new(pair),
            acceptor,
            threads: Some(threads),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenEndpoint {
    /// Returns `false` for a local socket whose path was chosen for this process, as it ends with
    /// the process; `true` for all other addresses.
    pub(in crate::lane) fn is_lasting(&self) -> bool {
        !(self.pair.link.is_local() && self.endpoint.place.is_empty())
    }

    /// Returns the endpoints of other servers that references contain behind this one.
    pub(in crate::lane) fn alternates(&self) -> Vec<ProfileEndpoint> {
        alternates(&self.endpoint, &self.pair, &self.published)
    }

    pub(in crate::lane) fn named(&self) -> Named<'_> {
        Named {
            configured: &self.endpoint,
            real: self.real(),
            published: &self.published,
        }
    }

    /// Returns the listening endpoint with the actual address, such as the port that was assigned.
    pub(in crate::lane) fn real(&self) -> ListenEndpoint {
        let address = self.acceptor.address();
        let named = self.endpoint.host_and_port();
        let place = match (named, address.host_and_port()) {
            // What is local, such as a path, stands as it was configured.
            _ if self.pair.link.places() == Places::Own && !self.pair.link.is_local() => {
                address.place().to_owned()
            }
            (Some((Some(host), 0)), Some((_, port))) => {
                Address::iiop(host, port).place().to_owned()
            }
            (Some((None, 0)), Some((_, port))) => format!(":{port}"),
            _ if self.endpoint.place.is_empty() => address.place().to_owned(),
            _ => self.endpoint.place.clone(),
        };
        ListenEndpoint {
            place,
            ..self.endpoint.clone()
        }
    }
}
