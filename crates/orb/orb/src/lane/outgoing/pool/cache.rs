//! Cache of outgoing connections: one for each endpoint, or one for each concurrent call. Unused
//! connections are closed when the total exceeds the configured limit.
//!
//! A connection is claimed for exclusive use by one atomic exchange. All other state is protected
//! by locks, which calls on open connections do not take.

use super::binding::Binding;
use super::endpoint::Endpoint;
use super::opened_for::OpenedFor;
use super::to_endpoint::ToEndpoint;
use crate::broker::Broker;
use crate::lane::outgoing::buffering::Flusher;
use crate::lane::outgoing::callbacks::{ServesBack, can_serve_back};
use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::wait::WaitStrategy;
use crate::policy::{Mux, Wait};
use crate::priority::Priority;
use crate::profile::EndpointQualities;
use parking_lot::{Mutex, MutexGuard};
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::Deadline;
use punctual_link::{Address, LinkError, Phase, Properties};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Key of the connections that calls may share. Code sets belong to a connection (CORBA 3.3 part 2,
/// §7.10.2.6), so they are part of it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    protocol: Box<str>,
    address: Address,
    /// Qualities (priority, protection, lane) that require another connection, even to an equal
    /// address.
    qualities: EndpointQualities,
    version: GiopVersion,
    code_sets: CodeSets,
    properties: Properties,
    mux: Mux,
    wait: Wait,
    /// Number of the only object whose calls use the connection; `None` if calls of all objects
    /// may.
    private_to: Option<u64>,
    band: Option<RangeInclusive<Priority>>,
    /// True if the server may call back over the connection.
    serves: bool,
}

/// List of a client's connections to one endpoint.
type Connections = ToEndpoint<ClientConnection>;

/// Maximum wait for adding a newly opened connection to the list of its endpoint, which is locked
/// only while another is being opened.
const OPENED: Duration = Duration::from_millis(100);

/// Minimum time between two searches for connections whose peers have closed.
const REAP: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct ConnectionCache {
    endpoints: Mutex<HashMap<Key, Arc<Connections>>>,
    reaped: Mutex<Option<Instant>>,
}

/// Requirements of a call on the connection to be used.
pub(crate) struct ConnectionTerms {
    pub(crate) properties: Properties,
    pub(crate) mux: Mux,
    pub(crate) wait: Wait,
    /// Number of the only object whose calls may use the connection; `None` if calls of all objects
    /// may.
    pub(crate) private_to: Option<u64>,
    /// Band of priorities whose calls use the connection exclusively; announced to the server.
    pub(crate) band: Option<RangeInclusive<Priority>>,
    /// Server of requests that arrive over the connection, if they are to be served.
    pub(crate) back: Option<Arc<dyn ServesBack>>,
}

impl ConnectionCache {
    /// Returns a usable connection to an endpoint, exclusive to the caller if calls do not share
    /// connections.
    pub(in crate::lane) fn bind(
        &self,
        lane: &OpenedFor<'_>,
        endpoint: &Arc<Endpoint>,
        wanted: ConnectionTerms,
        deadline: Deadline,
    ) -> Result<Binding, LinkError> {
        let ConnectionTerms {
            properties,
            mux,
            wait,
            private_to,
            band,
            back,
        } = wanted;
        let back = back.filter(|_| can_serve_back(&endpoint.pair));
        let spreads = mux == Mux::Adaptive
            && back.is_none()
            && wait == Wait::Read
            && band.is_none()
            && endpoint.pair.link.serves_without_blocking();
        let key_band = band.clone();
        let key = Key {
            protocol: endpoint.pair.name.clone(),
            address: endpoint.address.clone(),
            qualities: endpoint.qualities,
            version: endpoint.version,
            code_sets: endpoint.code_sets,
            properties: properties.clone(),
            mux,
            wait,
            private_to,
            band,
            serves: back.is_some(),
        };
        let config = lane.broker.config();
        let none = || {
            let band = key_band.map(|band| *band.start());
            Arc::new(ToEndpoint::new(&properties, spreads, band, config))
        };
        let to_endpoint = self
            .endpoints
            .lock()
            .entry(key)
            .or_insert_with(none)
            .clone();
        // Declared first, so that it is dropped after the lock is released: lost requests are
        // logged then.
        let _gone: Vec<_>;
        let mut held = lock(&to_endpoint, deadline)?;
        if let Some(binding) = held
            .iter()
            .find_map(|one| Binding::to(one, endpoint, mux, deadline))
        {
            return Ok(binding);
        }
        _gone = held.extract_if(.., |one| !one.may_be_used()).collect();
        self.reap();
        self.make_room(lane.broker.config().client_connections);
        if mux == Mux::Exclusive {
            // Each caller opens a connection of its own, and does not wait for another caller's.
            drop(held);
            let to = (&**endpoint, &to_endpoint);
            let connection = open(lane, to, &properties, wait, deadline)?;
            served_back(&connection, back.as_ref())?;
            still_wanted(lane.broker, &connection)?;
            let binding = Binding::to(&connection, endpoint, mux, deadline);
            lock(&to_endpoint, deadline)?.push(connection);
            return binding.ok_or_else(|| LinkError::closed(Phase::Connect));
        }
        let to = (&**endpoint, &to_endpoint);
        let connection = open(lane, to, &properties, wait, deadline)?;
        served_back(&connection, back.as_ref())?;
        still_wanted(lane.broker, &connection)?;
        held.push(connection.clone());
        Ok(Binding::shared(connection, endpoint.clone()))
    }

    /// Drops unused connections whose peers have closed, at intervals, so that file descriptors of
    /// vanished servers do not accumulate.
    fn reap(&self) {
        {
            let mut reaped = self.reaped.lock();
            if reaped.is_some_and(|last| last.elapsed() < REAP) {
                return;
            }
            *reaped = Some(Instant::now());
        }
        // A check may take a moment: callers of other endpoints do not wait for it.
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        for to_endpoint in endpoints {
            // A locked entry is being opened, perhaps by this very thread.
            if let Some(mut held) = to_endpoint.held.try_lock() {
                let gone: Vec<_> = held.extract_if(.., |one| !one.is_open()).collect();
                drop(held);
                drop(gone);
            }
        }
        self.endpoints.lock().retain(|_, to_endpoint| {
            // Another thread may hold the entry, about to open a connection.
            Arc::strong_count(to_endpoint) > 1
                || to_endpoint
                    .held
                    .try_lock()
                    .is_none_or(|held| !held.is_empty())
        });
    }

    /// Returns the number of open connections in the cache.
    pub(in crate::lane) fn len(&self) -> usize {
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        let held = endpoints.iter().filter_map(|one| one.held.try_lock());
        held.map(|held| held.len()).sum()
    }

    /// Closes unused connections, the least recently used first, until one more does not exceed
    /// `limit`. Connections in use stay open, regardless of their number. Peers are not notified,
    /// as a client may close without a message (CORBA 3.3 part 2, §9.4.7).
    fn make_room(&self, limit: usize) {
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        // A locked entry is about to be opened, perhaps by this very thread.
        let count = |to_endpoint: &Arc<Connections>| {
            to_endpoint.held.try_lock().map_or(0, |held| held.len())
        };
        let too_many = (endpoints.iter().map(count).sum::<usize>() + 1).saturating_sub(limit);
        if too_many == 0 {
            return;
        }
        let mut idle: Vec<(u64, &Arc<Connections>, Arc<ClientConnection>)> = Vec::new();
        for to_endpoint in &endpoints {
            if let Some(held) = to_endpoint.held.try_lock() {
                let unused = held.iter().filter(|one| one.is_idle());
                idle.extend(unused.map(|one| (one.last_used(), to_endpoint, one.clone())));
            }
        }
        idle.sort_unstable_by_key(|(last_used, ..)| *last_used);
        for (_, to_endpoint, connection) in idle.into_iter().take(too_many) {
            take_out(to_endpoint, &connection);
            // A call that has just begun on it finishes, or finds it unusable and takes another.
            connection.retire();
        }
    }

    /// Removes the connections of protocols that use `part`; each closes when its last call has
    /// ended.
    pub(crate) fn retire(&self, part: &str) {
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        for to_endpoint in endpoints {
            // A connection that is being opened is checked by the thread that opens it
            // (`still_wanted`).
            let Some(mut held) = to_endpoint.held.try_lock_for(OPENED) else {
                continue;
            };
            let gone: Vec<_> = held
                .extract_if(.., |one| one.wire.pair.involves(part))
                .collect();
            drop(held);
            gone.iter().for_each(|one| one.retire());
        }
    }

    /// Refuses new calls on all connections. Each connection closes when its last call has ended
    /// and its buffered requests are sent.
    pub(crate) fn retire_all(&self, flusher: &Flusher, deadline: Deadline) {
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        let held = endpoints.iter().map(|to_endpoint| {
            let held = to_endpoint.held.try_lock_for(OPENED);
            held.map(|held| held.clone()).unwrap_or_default()
        });
        let all: Vec<Arc<ClientConnection>> = held.flatten().collect();
        all.iter().for_each(|one| one.refuse_new_calls());
        flush_each(&all, flusher, deadline);
        all.iter().for_each(|one| one.close_with_the_last());
    }

    /// Sends the buffered requests on all connections to an endpoint, whichever references they
    /// were made through.
    pub(crate) fn flush_to(&self, endpoint: &Endpoint, deadline: Deadline) {
        let is_there =
            |key: &Key| key.address == endpoint.address && *key.protocol == *endpoint.pair.name;
        let endpoints = self.endpoints.lock();
        let there = endpoints.iter().filter(|(key, _)| is_there(key));
        let there: Vec<Arc<Connections>> = there.map(|(_, one)| one.clone()).collect();
        drop(endpoints);
        for to_endpoint in there {
            // If a connection takes longer to open, nothing is buffered there.
            let held = to_endpoint.held.try_lock_for(OPENED);
            let connections = held.map(|held| held.clone()).unwrap_or_default();
            connections.iter().for_each(|one| one.flush(deadline));
        }
    }

    /// Sends the buffered requests on every connection before the lane ends, on the flusher's
    /// threads, so that a stalled server does not delay the requests to others. Requests not sent
    /// by the deadline are lost.
    pub(crate) fn flush(&self, flusher: &Flusher, deadline: Deadline) {
        let endpoints: Vec<Arc<Connections>> = self.endpoints.lock().values().cloned().collect();
        let held = endpoints.iter().flat_map(|to_endpoint| {
            // If a connection takes longer to open, nothing is buffered there.
            let held = to_endpoint.held.try_lock_for(OPENED);
            held.map(|held| held.clone()).unwrap_or_default()
        });
        let all: Vec<Arc<ClientConnection>> = held.collect();
        flush_each(&all, flusher, deadline);
    }

    pub(crate) fn close(&self) {
        let endpoints = std::mem::take(&mut *self.endpoints.lock());
        for to_endpoint in endpoints.into_values() {
            let Some(mut held) = to_endpoint.held.try_lock_for(OPENED) else {
                continue;
            };
            let connections = std::mem::take(&mut *held);
            drop(held);
            for connection in connections {
                connection.break_off(&Broken::off("the ORB has shut down"));
            }
        }
    }
}

fn flush_each(all: &[Arc<ClientConnection>], flusher: &Flusher, deadline: Deadline) {
    let (waiting, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.make_due());
    let is_alone = waiting.len() == 1;
    let (scheduled, own): (Vec<_>, Vec<_>) = waiting
        .into_iter()
        .partition(|one| !is_alone && flusher.schedule(Instant::now(), one));
    for connection in own.into_iter().chain(others) {
        connection.flush(deadline);
    }
    for connection in scheduled {
        connection.wait_until_sent(deadline);
    }
}

/// Makes a new connection serve the server's requests, if `back` is given.
fn served_back(
    connection: &Arc<ClientConnection>,
    back: Option<&Arc<dyn ServesBack>>,
) -> Result<(), LinkError> {
    let begun = back.map_or(Ok(()), |back| back.begin(connection));
    begun.map_err(|error| LinkError::os(Phase::Connect, error))
}

/// Removes a connection from the list of its endpoint. If the list is locked because another
/// connection is being opened, it stays there until the next check, which removes it as unusable.
fn take_out(to_endpoint: &Connections, connection: &Arc<ClientConnection>) {
    if let Some(mut held) = to_endpoint.held.try_lock() {
        held.retain(|one| !Arc::ptr_eq(one, connection));
    }
}

impl ClientConnection {
    /// Removes the connection from the pool and retires it: no further call uses it, and it closes
    /// when its last call has ended.
    pub(crate) fn leave_pool(self: &Arc<Self>) {
        if let Some(to_endpoint) = self.membership.to.upgrade() {
            take_out(&to_endpoint, self);
        }
        self.retire();
    }
}

/// Checks, once a connection is open, that the ORB still runs and supports the protocol; closes the
/// connection otherwise. Needed because threads that retire protocols or shut the ORB down do not
/// wait for connections that are being opened.
pub(in crate::lane) fn still_wanted(
    broker: &Broker,
    connection: &Arc<ClientConnection>,
) -> Result<(), LinkError> {
    let spoken = broker
        .protocols
        .now()
        .pair(&connection.wire.pair.name)
        .is_ok();
    if spoken && broker.life.calls() {
        return Ok(());
    }
    connection.break_off(&Broken::off("its protocol has been retired"));
    Err(LinkError::closed(Phase::Connect))
}

fn lock(
    to_endpoint: &Connections,
    deadline: Deadline,
) -> Result<MutexGuard<'_, Vec<Arc<ClientConnection>>>, LinkError> {
    let locked = match deadline.end() {
        None => Some(to_endpoint.held.lock()),
        Some(end) => to_endpoint.held.try_lock_until(end),
    };
    locked.ok_or_else(|| LinkError::timed_out(Phase::Connect))
}

/// Opens a connection. The caller adds it to the list of its endpoint.
pub(in crate::lane) fn open(
    lane: &OpenedFor<'_>,
    (endpoint, to): (&Endpoint, &Arc<Connections>),
    properties: &Properties,
    wait: Wait,
    deadline: Deadline,
) -> Result<Arc<ClientConnection>, LinkError> {
    let pair = &endpoint.pair;
    let link = pair.link.connect(&endpoint.address, properties, deadline)?;
    // What a reference or a policy says of its own goes before.
    if properties.get("dscp").is_none() {
        lane.mark(&*link, to.lowest);
    }
    let failed = |error| LinkError::os(Phase::Connect, error);
    // A link that needs a thread for each connection supports one way of waiting only.
    let waiting = if wait == Wait::Read || !link.serves_without_blocking() {
        WaitStrategy::Read
    } else {
        let reactor = lane
            .reactors
            .for_callers(lane.broker, wait == Wait::LeaderFollowers);
        WaitStrategy::reactor(reactor.map_err(failed)?)
    };
    let connection = Arc::new(ClientConnection::new(
        link,
        pair,
        (endpoint.version, endpoint.code_sets),
        (lane, to),
        waiting,
    ));
    connection.watch_inbox(&lane.broker.received);
    connection.attach().map_err(failed)?;
    Ok(connection)
}
