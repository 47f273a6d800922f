//! Endpoints that listen, and a thread for each connection they accept.

use super::publish::{Published, published};
use super::receive::ServerConnection;
use super::watch::watch;
use crate::config::ListenEndpoint;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::messaging;
use crate::orb::Orb;
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_exec::{Crew, Deadline, SpawnError};
use punctual_giop::{MessageKind, code_sets};
use punctual_ior::{Endpoint, IiopProfile, TaggedComponent, TaggedProfile};
use punctual_link::{Acceptor, Cause, Connection, LinkError, Properties};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Pause before accepting again when the operating system had no descriptor or memory to give.
const PAUSE: Duration = Duration::from_millis(50);
/// Punctual's own ORB type, `PUN` and a NUL, in TAG_ORB_TYPE.
pub(crate) const ORB_TYPE: u32 = 0x5055_4e00;

/// All that a lane listens with.
#[derive(Debug)]
pub(crate) struct Listening {
    state: Mutex<State>,
    acceptors: Crew,
    pub(super) crew: Crew,
    connections: Mutex<Connections>,
    /// A client has come, or the end has.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<Open>,
    closed: bool,
}

#[derive(Debug)]
struct Open {
    endpoint: ListenEndpoint,
    published: Published,
    acceptor: Arc<dyn Acceptor>,
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
            acceptors: Crew::new(usize::MAX),
            crew: Crew::new(max_connections),
            connections: Mutex::new(Connections::default()),
            changed: Condvar::new(),
        }
    }

    /// Listens at every configured endpoint, unless it does already.
    pub(crate) fn open(&self, orb: &Orb) -> Result<(), SystemException> {
        let mut state = self.state();
        if !state.open.is_empty() {
            return Ok(());
        }
        if state.closed {
            return orb.check_running();
        }
        let opened: Result<Vec<Open>, SystemException> = orb
            .config()
            .endpoints()
            .into_iter()
            .map(|endpoint| open_one(orb, endpoint))
            .collect();
        let opened = opened?;
        for one in &opened {
            let (orb, acceptor) = (orb.clone(), one.acceptor.clone());
            self.acceptors
                .spawn("punctual-accept", move || accept_all(&orb, &*acceptor))
                .map_err(|error| not_listening(&one.endpoint, &error))?;
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
        state.open = opened;
        Ok(())
    }

    /// The profiles of a reference to `object_key`: one, with the endpoints after the first as
    /// alternate addresses (CORBA 3.3 part 2, §9.7.2); in GIOP 1.0, which has no components, one each.
    pub(crate) fn profiles(
        &self,
        orb: &Orb,
        object_key: &[u8],
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let state = self.state();
        let places: Vec<&Published> = state.open.iter().map(|open| &open.published).collect();
        let version = orb.config().giop_version;
        build_profiles(&places, version, object_key).map_err(|error| {
            SystemException::new(Kind::Marshal, minor::ENCODING, CompletionStatus::No)
                .with_detail(format!("making a reference: {error}"))
        })
    }

    pub(crate) fn endpoints(&self) -> Vec<ListenEndpoint> {
        let real = |open: &Open| {
            let port = open
                .acceptor
                .address()
                .host_and_port()
                .map_or(0, |(_, port)| port);
            ListenEndpoint {
                port,
                ..open.endpoint.clone()
            }
        };
        self.state().open.iter().map(real).collect()
    }

    pub(crate) fn connections(&self) -> usize {
        self.lock_connections().open.len()
    }

    /// Stops listening and says goodbye to every client.
    pub(crate) fn close(&self) {
        {
            let mut state = self.state();
            state.closed = true;
            for open in &state.open {
                open.acceptor.close();
            }
        }
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

    pub(super) fn leave(&self, id: u64) {
        self.lock_connections().open.remove(&id);
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

fn open_one(orb: &Orb, endpoint: ListenEndpoint) -> Result<Open, SystemException> {
    let listen = |ipv6| {
        orb.link()
            .listen(&endpoint.address(ipv6), &Properties::NONE)
    };
    // A host without IPv6 refuses its wildcard; IPv4's serves as well then.
    let acceptor = match listen(true) {
        Err(_) if endpoint.host.is_none() => listen(false),
        listened => listened,
    };
    let acceptor: Arc<dyn Acceptor> = acceptor
        .map_err(|error| not_listening(&endpoint, &error))?
        .into();
    let port = acceptor
        .address()
        .host_and_port()
        .map_or(endpoint.port, |(_, port)| port);
    Ok(Open {
        published: published(&endpoint, port),
        endpoint,
        acceptor,
    })
}

fn not_listening(endpoint: &ListenEndpoint, error: &dyn std::fmt::Display) -> SystemException {
    SystemException::new(Kind::Initialize, minor::LISTEN_FAILED, CompletionStatus::No)
        .with_detail(format!("{endpoint}: {error}"))
}

fn accept_all(orb: &Orb, acceptor: &dyn Acceptor) {
    let mut failing = false;
    loop {
        match acceptor.accept() {
            Ok(link) => {
                failing = false;
                welcome(orb, link);
            }
            Err(LinkError {
                cause: Cause::Closed,
                ..
            }) => return,
            Err(error) => {
                // One line for each spell without descriptors, not one for each try.
                if !failing {
                    tracing::warn!(endpoint = %acceptor.address(), "{error}; trying again");
                }
                failing = true;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn welcome(orb: &Orb, link: Arc<dyn Connection>) {
    let listening = &orb.lane().listening;
    if listening.is_closed() {
        turn_away(orb, &*link);
        return;
    }
    let connection = ServerConnection::new(orb.clone(), link.clone());
    let served = connection.clone();
    let started = listening
        .crew
        .spawn("punctual-conn", move || served.serve_until_closed());
    if let Err(error) = started {
        let limit = matches!(error, SpawnError::Full { .. });
        let key = if limit { " (max_connections)" } else { "" };
        tracing::warn!(peer = %link.peer(), "the connection is refused: {error}{key}");
        turn_away(orb, &*link);
    }
}

/// Tells a peer, in good order, that it is not served here.
fn turn_away(orb: &Orb, link: &dyn Connection) {
    let soon = Deadline::after(Duration::from_millis(100));
    let (kind, version) = (MessageKind::CloseConnection, GiopVersion::V1_0);
    // Whether it hears that or not, the connection ends.
    let _ = messaging::send_control(link, kind, version, orb.tracer(), soon);
    link.close();
}

fn build_profiles(
    places: &[&Published],
    version: GiopVersion,
    object_key: &[u8],
) -> Result<Vec<TaggedProfile>, CdrError> {
    let profile = |place: &Published, components| {
        IiopProfile {
            version: version.into(),
            host: place.host.clone(),
            port: place.port,
            object_key: object_key.to_vec(),
            components,
        }
        .to_tagged(ByteOrder::NATIVE)
    };
    if version == GiopVersion::V1_0 {
        return places
            .iter()
            .map(|place| profile(place, Vec::new()))
            .collect();
    }
    let Some((first, others)) = places.split_first() else {
        return Ok(Vec::new());
    };
    let mut components = vec![
        TaggedComponent::orb_type(ORB_TYPE),
        TaggedComponent::code_sets(&code_sets::our_component())?,
    ];
    for other in others {
        let address = Endpoint {
            host: other.host.clone(),
            port: other.port,
        };
        components.push(TaggedComponent::alternate_iiop_address(&address)?);
    }
    Ok(vec![profile(first, components)?])
}
