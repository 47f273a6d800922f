//! The endpoints that a lane listens at.

use super::publish::{Named, published};
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::reactors::{Reactors, ServingThreads, not_listening};
use crate::profile::{LaneId, ProfileEndpoint, SecurityRequirement};
use crate::protocol::Pair;
use punctual_link::{Acceptor, Address};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those of one lane.
#[derive(Debug)]
pub(crate) struct Endpoints {
    state: Mutex<State>,
    /// How often one has come or gone.
    changes: AtomicU64,
    /// Which lane they are of, if it is one of a thread pool.
    lane: Option<LaneId>,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<OpenEndpoint>,
    /// Whether the endpoints of the configuration have been opened.
    opened: bool,
    next: u64,
    closed: bool,
}

/// One that is listened at.
#[derive(Clone, Debug)]
pub(crate) struct OpenEndpoint {
    /// Its number among those of its lane, for the connections that it accepts.
    pub(crate) number: u64,
    pub(crate) endpoint: ListenEndpoint,
    pub(crate) pair: Arc<Pair>,
    pub(in crate::lane) published: ProfileEndpoint,
    pub(crate) acceptor: Arc<dyn Acceptor>,
    /// Who serves the connections. `None` once it listens no more.
    pub(crate) threads: Option<ServingThreads>,
}

/// Starts accepting at an endpoint.
pub(crate) type Accept<'a> = dyn Fn(&OpenEndpoint) -> Result<(), SystemException> + 'a;

impl Endpoints {
    /// None yet, of that lane of a thread pool, if it is one of those.
    pub(super) fn new(lane: Option<LaneId>) -> Self {
        Self {
            state: Mutex::default(),
            changes: AtomicU64::new(0),
            lane,
        }
    }

    /// Listens at these endpoints of the configuration; `false` where it does already.
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
        // Where the ORB ends, it has seen this lane, or this is seen here.
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
        // Those that have begun to accept end with the others.
        accepting.inspect_err(|_| opened.iter().for_each(|one| one.acceptor.close()))?;
        state.open.extend(opened);
        state.opened = true;
        self.have_changed();
        Ok(true)
    }

    /// Listens at one more endpoint, from now on; says where that is.
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

    /// Stops listening at those that are meant; their numbers.
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

    /// Stops listening at all.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for open in &mut state.open {
            open.acceptor.close();
            // A pool ends with the last that it serves.
            open.threads = None;
        }
    }

    /// Whether the endpoints of the configuration have been opened.
    pub(in crate::lane) fn are_opened(&self) -> bool {
        self.lock().opened
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether the endpoint of that number is listened at still.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        self.lock().open.iter().any(|one| one.number == number)
    }

    /// One of that protocol.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn find(&self, protocol: &str) -> Option<OpenEndpoint> {
        let state = self.lock();
        let mut open = state.open.iter();
        open.find(|one| one.endpoint.protocol == protocol).cloned()
    }

    /// With the places that were chosen.
    pub(crate) fn all(&self) -> Vec<ListenEndpoint> {
        self.lock().open.iter().map(OpenEndpoint::real).collect()
    }

    /// Where references say that this link is listened at.
    pub(crate) fn published_by(&self, link: &str) -> Vec<Address> {
        let state = self.lock();
        let open = state.open.iter().filter(|one| one.pair.link.name() == link);
        open.map(|one| one.published.address.clone()).collect()
    }

    /// Whether references that name this place mean one of these.
    /// Whether references that name this place mean one of these.
    pub(crate) fn is_at(&self, protocol: &str, address: &Address) -> bool {
        let is_meant = |open: &OpenEndpoint| {
            &*open.published.protocol == protocol && open.published.address == *address
        };
        self.lock().open.iter().any(is_meant)
    }

    /// How often one has come or gone.
    pub(in crate::lane) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Those that are listened at.
    pub(in crate::lane) fn open_now(&self) -> Vec<OpenEndpoint> {
        self.lock().open.clone()
    }

    /// Under the lock, after a change.
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
        let link = pair.link.name();
        let bare = link.rsplit('+').next().unwrap_or(link);
        let properties = endpoint.properties(broker.config().link_properties.get(bare));
        let threads = reactors.serving_threads(broker, &endpoint, &pair, &properties)?;
        let mut listened = Err(None);
        for address in endpoint.addresses(pair.link.name()) {
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
            Err(None) => return Err(not_listening(&endpoint, &"there is no address to try")),
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
    /// Whether its place was not chosen for this process: a socket's ends with it.
    pub(in crate::lane) fn is_lasting(&self) -> bool {
        !(self.pair.link.is_local() && self.endpoint.place.is_empty())
    }

    pub(in crate::lane) fn named(&self) -> Named<'_> {
        Named {
            configured: &self.endpoint,
            real: self.real(),
            published: &self.published,
        }
    }

    /// The endpoint with the place that was chosen.
    pub(in crate::lane) fn real(&self) -> ListenEndpoint {
        let address = self.acceptor.address();
        let named = self.endpoint.host_and_port();
        let place = match (named, address.host_and_port()) {
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
