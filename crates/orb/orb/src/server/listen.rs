//! Endpoints that listen, and who serves the connections they accept.

use super::concurrency::{Reactors, Staff};
use super::panics;
use super::publish::published;
use super::receive::ServerConnection;
use super::watch::watch;
use crate::collocation;
use crate::config::ListenEndpoint;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::messaging::{self, Session};
use crate::orb::Orb;
use crate::profile::{self, Place, Publication};
use crate::protocol::Pair;
use punctual_cdr::{CdrError, GiopVersion};
use punctual_exec::{Deadline, LeaderFollowers, SpawnError, ThreadGroup};
use punctual_giop::{MessageKind, code_sets};
use punctual_ior::{PolicyValue, TaggedComponent, TaggedProfile};
use punctual_link::{Acceptor, Address, Cause, Connection, LinkError};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Pause before accepting again when the operating system had no descriptor or memory to give.
const PAUSE: Duration = Duration::from_millis(50);

/// All that a lane listens with.
#[derive(Debug)]
pub(crate) struct Listening {
    state: Mutex<State>,
    acceptors: ThreadGroup,
    pub(super) crew: ThreadGroup,
    connections: Mutex<Connections>,
    /// A client has come or gone, or the end has come.
    changed: Condvar,
    pub(crate) reactors: Reactors,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<Open>,
    /// Whether the endpoints of the configuration have been opened.
    opened: bool,
    next: u64,
    closed: bool,
}

#[derive(Clone, Debug)]
struct Open {
    /// Its number among those of this ORB, for the connections that it accepts.
    number: u64,
    endpoint: ListenEndpoint,
    pair: Arc<Pair>,
    published: Place,
    acceptor: Arc<dyn Acceptor>,
    /// Who serves the connections. `None` once it listens no more.
    staff: Option<Staff>,
}

#[derive(Debug, Default)]
struct Connections {
    closed: bool,
    next: u64,
    open: BTreeMap<u64, Weak<ServerConnection>>,
}

impl Listening {
    pub(crate) fn new(max_connections: usize) -> Self {
        Self {
            state: Mutex::new(State::default()),
            acceptors: ThreadGroup::new(usize::MAX),
            crew: ThreadGroup::new(max_connections),
            connections: Mutex::new(Connections::default()),
            changed: Condvar::new(),
            reactors: Reactors::default(),
        }
    }

    /// Listens at every configured endpoint, unless it does already.
    pub(crate) fn open(&self, orb: &Orb) -> Result<(), SystemException> {
        let mut state = self.state();
        if state.opened {
            return Ok(());
        }
        if state.closed {
            return orb.check_running();
        }
        let begin = state.next;
        let endpoints = orb.config().endpoints();
        let opened: Result<Vec<Open>, SystemException> = (begin..)
            .zip(endpoints)
            .map(|(number, endpoint)| open_one(orb, number, endpoint))
            .collect();
        let opened = opened?;
        state.next += u64::try_from(opened.len()).unwrap_or_default();
        for one in &opened {
            self.accept_at(orb, one)?;
        }
        if let Some(interval) = orb.config().timeouts.hand_over {
            let orb = orb.clone();
            // Without it, requests wait behind upcalls that take long, and nothing else is amiss.
            if let Err(error) = self
                .acceptors
                .spawn("punctual-watch", move || watch(&orb, interval))
            {
                tracing::warn!("no thread to watch for upcalls that take long: {error}");
            }
        }
        state.open.extend(opened);
        state.opened = true;
        collocation::join(orb);
        panics::keep();
        Ok(())
    }

    /// Listens at one more endpoint, from now on.
    pub(crate) fn add(
        &self,
        orb: &Orb,
        endpoint: ListenEndpoint,
    ) -> Result<ListenEndpoint, SystemException> {
        self.open(orb)?;
        let mut state = self.state();
        if state.closed {
            orb.check_running()?;
        }
        let one = open_one(orb, state.next, endpoint)?;
        state.next += 1;
        self.accept_at(orb, &one)?;
        let real = one.real();
        state.open.push(one);
        Ok(real)
    }

    /// Listens no more at an endpoint, and says goodbye to the clients that came there: calls in
    /// progress finish. `false` when it does not listen there.
    pub(crate) fn retire(&self, endpoint: &ListenEndpoint) -> bool {
        self.retire_those(|one| one.endpoint == *endpoint || one.real() == *endpoint)
    }

    /// The same for every endpoint of protocols that a link, messaging protocol or adapter of this name
    /// is part of.
    pub(crate) fn retire_protocols(&self, part: &str) {
        self.retire_those(|one| one.pair.involves(part));
    }

    fn retire_those(&self, is_meant: impl Fn(&Open) -> bool) -> bool {
        let gone: Vec<Open> = {
            let mut state = self.state();
            let (gone, kept) = state.open.drain(..).partition(is_meant);
            state.open = kept;
            gone
        };
        for one in &gone {
            one.acceptor.close();
        }
        let open: Vec<_> = self.lock_connections().open.values().cloned().collect();
        for connection in open.iter().filter_map(Weak::upgrade) {
            if gone.iter().any(|one| one.number == connection.endpoint()) {
                connection.say_goodbye();
            }
        }
        !gone.is_empty()
    }

    fn accept_at(&self, orb: &Orb, one: &Open) -> Result<(), SystemException> {
        let (orb, accepting) = (orb.clone(), one.clone());
        self.acceptors
            .spawn("punctual-accept", move || accept_all(&orb, &accepting))
            .map_err(|error| not_listening(&one.endpoint, &error))
    }

    /// The profiles of a reference to `object_key`, in the order of the endpoints: codec by codec,
    /// those that share one in as few profiles as it needs.
    pub(crate) fn profiles(
        &self,
        orb: &Orb,
        object_key: &[u8],
        policies: &[PolicyValue],
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let places: Vec<Place> = {
            let state = self.state();
            state
                .open
                .iter()
                .map(|open| open.published.clone())
                .collect()
        };
        build_profiles(orb, &places, object_key, policies).map_err(|error| {
            SystemException::new(Kind::Marshal, minor::ENCODING, CompletionStatus::No)
                .with_detail(format!("making a reference: {error}"))
        })
    }

    pub(crate) fn endpoints(&self) -> Vec<ListenEndpoint> {
        self.state().open.iter().map(Open::real).collect()
    }

    /// Whether references that name this place mean an endpoint of this ORB.
    pub(crate) fn is_at(&self, protocol: &str, address: &Address) -> bool {
        let is_meant = |open: &Open| {
            &*open.published.protocol == protocol && open.published.address == *address
        };
        self.state().open.iter().any(is_meant)
    }

    pub(crate) fn connections(&self) -> usize {
        self.lock_connections().open.len()
    }

    /// Stops listening and says goodbye to every client.
    pub(crate) fn close(&self) {
        {
            let mut state = self.state();
            state.closed = true;
            for open in &mut state.open {
                open.acceptor.close();
                // A pool ends with the last that it serves.
                open.staff = None;
            }
        }
        self.reactors.release();
        let open: Vec<_> = {
            let mut connections = self.lock_connections();
            connections.closed = true;
            self.changed.notify_all();
            connections.open.values().cloned().collect()
        };
        for connection in open.iter().filter_map(Weak::upgrade) {
            connection.say_goodbye();
        }
    }

    /// Waits until the last request in progress has been answered.
    pub(crate) fn wait_until_idle(&self) {
        // Without a deadline it returns only when they are gone.
        let _ = self.acceptors.wait_until_at_most(0, Deadline::NEVER);
        let _ = self.crew.wait_until_at_most(0, Deadline::NEVER);
        let mut connections = self.lock_connections();
        while !connections.open.is_empty() {
            connections = self
                .changed
                .wait(connections)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(connections);
        self.reactors.wait_until_ended();
    }

    /// Has a reactor's threads serve a connection, if it is one that may still come.
    fn have_served(
        &self,
        connection: &Arc<ServerConnection>,
        pool: &Arc<LeaderFollowers>,
        orb: &Orb,
    ) -> Result<(), SpawnError> {
        let limit = orb.config().max_connections;
        if self.connections() >= limit {
            return Err(SpawnError::Full { limit });
        }
        connection.serve_on(pool).map_err(SpawnError::Os)
    }

    pub(super) fn join(&self, connection: &Arc<ServerConnection>) -> u64 {
        let mut connections = self.lock_connections();
        let id = connections.next;
        connections.next += 1;
        connections.open.insert(id, Arc::downgrade(connection));
        self.changed.notify_all();
        id
    }

    /// Waits until a client is connected, then for `interval`; `None` when there will be no more.
    pub(super) fn wait_for_connections(
        &self,
        interval: Duration,
    ) -> Option<Vec<(u64, Arc<ServerConnection>)>> {
        let mut connections = self.lock_connections();
        while connections.open.is_empty() && !connections.closed {
            connections = self
                .changed
                .wait(connections)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let waited = self
            .changed
            .wait_timeout_while(connections, interval, |connections| !connections.closed);
        let connections = waited.unwrap_or_else(PoisonError::into_inner).0;
        // Dropping the last hold on one takes the lock again: they are dropped by the caller.
        let open = connections.open.iter();
        let held = open.filter_map(|(&number, one)| Some((number, one.upgrade()?)));
        (!connections.closed).then(|| held.collect())
    }

    /// Whether the endpoint of that number is listened at still.
    pub(super) fn is_open(&self, endpoint: u64) -> bool {
        self.state().open.iter().any(|one| one.number == endpoint)
    }

    pub(super) fn leave(&self, id: u64) {
        self.lock_connections().open.remove(&id);
        self.changed.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// The endpoint with the place that was chosen.
    fn real(&self) -> ListenEndpoint {
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

fn open_one(orb: &Orb, number: u64, endpoint: ListenEndpoint) -> Result<Open, SystemException> {
    let pair = orb
        .protocols()
        .now()
        .pair(&endpoint.protocol)
        .map_err(|error| not_listening(&endpoint, &error))?;
    let link = pair.link.name();
    let bare = link.rsplit('+').next().unwrap_or(link);
    let properties = endpoint.properties(orb.config().link_properties.get(bare));
    let reactors = &orb.lane().listening.reactors;
    let staff = reactors.staff(orb, &endpoint, &pair, &properties)?;
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
    Ok(Open {
        number,
        published: published(&endpoint, &pair, acceptor.address()),
        endpoint,
        pair: Arc::new(pair),
        acceptor,
        staff: Some(staff),
    })
}

pub(super) fn not_listening(
    endpoint: &ListenEndpoint,
    error: &dyn std::fmt::Display,
) -> SystemException {
    SystemException::new(Kind::Initialize, minor::LISTEN_FAILED, CompletionStatus::No)
        .with_detail(format!("{endpoint}: {error}"))
}

fn accept_all(orb: &Orb, at: &Open) {
    let mut failing = false;
    loop {
        match at.acceptor.accept() {
            Ok(link) => {
                failing = false;
                welcome(orb, at, link);
            }
            Err(LinkError {
                cause: Cause::Closed,
                ..
            }) => return,
            Err(error) => {
                // One line for each spell without descriptors, not one for each try.
                if !failing {
                    tracing::warn!(endpoint = %at.acceptor.address(), "{error}; trying again");
                }
                failing = true;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn welcome(orb: &Orb, at: &Open, link: Arc<dyn Connection>) {
    let listening = &orb.lane().listening;
    let session = at.pair.messaging.session();
    if listening.is_closed() {
        turn_away(orb, &*link, &*session);
        return;
    }
    let abilities = at.pair.messaging.abilities();
    let connection = ServerConnection::new(
        orb.clone(),
        link.clone(),
        session.clone(),
        abilities,
        at.number,
    );
    let served = connection.clone();
    let started = match &at.staff {
        Some(Staff::Pool(pool)) => listening.have_served(&served, pool, orb),
        _ => listening
            .crew
            .spawn("punctual-conn", move || served.serve_until_closed()),
    };
    if let Err(error) = started {
        let limit = matches!(error, SpawnError::Full { .. });
        let key = if limit { " (max_connections)" } else { "" };
        tracing::warn!(peer = %link.peer(), "the connection is refused: {error}{key}");
        turn_away(orb, &*link, &*session);
    }
}

/// Tells a peer, in good order, that it is not served here.
fn turn_away(orb: &Orb, link: &dyn Connection, session: &dyn Session) {
    let soon = Deadline::after(Duration::from_millis(100));
    let (kind, version) = (MessageKind::CloseConnection, GiopVersion::V1_0);
    // Whether it hears that or not, the connection ends.
    let _ = messaging::send_control(link, session, kind, version, orb.tracer(), soon);
    link.close();
}

fn build_profiles(
    orb: &Orb,
    places: &[Place],
    object_key: &[u8],
    policies: &[PolicyValue],
) -> Result<Vec<TaggedProfile>, CdrError> {
    let registry = orb.protocols().now();
    let mut components = vec![TaggedComponent::orb_type(profile::ORB_TYPE)];
    components.push(TaggedComponent::code_sets(&code_sets::our_component())?);
    if !policies.is_empty() {
        components.push(TaggedComponent::policies(policies)?);
    }
    let object = Publication {
        version: orb.config().giop_version,
        object_key,
        components: &components,
    };
    profile::profiles_at(&registry, places, &object)
}
