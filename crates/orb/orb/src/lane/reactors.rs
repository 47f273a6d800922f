//! Reactors of a lane, and the threads that serve an endpoint's connections: the strategies of
//! [`Concurrency`].
//!
//! The reactor of *reactive* endpoints has one thread and is shared by all of them;
//! *Leader/Followers* endpoints have a pool each. Callers that serve a reactor while they wait for
//! replies share the same reactors.

use super::pool::PoolThreads;
use super::work::RequestBuffer;
use crate::broker::Broker;
use crate::config::{Concurrency, ListenEndpoint, OrbConfig, PoolSize, pool_size_of_reservation};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::invalid;
use crate::protocol::Pair;
use punctual_exec::leader_followers::{PoolOptions, ReserveOptions};
use punctual_exec::reactor::ReactorOptions;
use punctual_exec::thread::{Requirement, Reservation, Scheduling};
use punctual_exec::{LeaderFollowers, Reactor, SpawnError, ThreadGroup, ThreadSpec};
use punctual_link::Properties;
use punctual_sys::processor;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Threads that serve the client connections of one endpoint.
#[derive(Clone, Debug)]
pub(crate) enum ServingThreads {
    /// Separate thread for each connection.
    PerConnection,
    /// Threads of a pool, and the buffer of requests that wait for one of them, if there is a
    /// buffer.
    Pool(Arc<LeaderFollowers>, Option<Arc<RequestBuffer>>),
}

impl ServingThreads {
    /// Returns the reactor that the threads serve, if there is one.
    pub(crate) fn reactor(&self) -> Option<&Arc<Reactor>> {
        match self {
            Self::PerConnection => None,
            Self::Pool(pool, _) => Some(pool.reactor()),
        }
    }
}

/// Reactors that serve the endpoints of a lane.
#[derive(Debug)]
pub(crate) struct Reactors {
    state: Mutex<State>,
    /// Specification of the threads that serve the reactors.
    spec: ThreadSpec,
    /// Threads of a thread pool's lane, which serve all its endpoints.
    only: Option<PoolThreads>,
}

/// Number of threads of a pool, and the reservation of each, if there is one.
type Size = (PoolSize, Option<Reservation>);

/// Reserve of a pool, if it has one, and number of threads up to which further ones start at once.
type Growth = (Option<ReserveOptions>, usize);

#[derive(Debug, Default)]
struct State {
    /// Thread pool of the endpoints whose concurrency strategy is reactive.
    reactive: Option<Arc<LeaderFollowers>>,
    /// Thread pool of the lane's first endpoint that has a pool of its own.
    first_pool: Option<Arc<LeaderFollowers>>,
    /// Reactor that only callers run while they wait for replies; used if there are no reactive and
    /// no pooled endpoints.
    callers_only: Option<Arc<Reactor>>,
    /// Threads of all pools ever started, to wait for their end.
    pools: Vec<ThreadGroup>,
}

impl Reactors {
    /// Makes an empty set, whose reactors' threads will have this specification. With `only`, its
    /// threads serve all endpoints, and no other pool is started.
    pub(super) fn new(spec: ThreadSpec, only: Option<PoolThreads>) -> Self {
        Self {
            state: Mutex::default(),
            only,
            spec,
        }
    }

    /// Returns the threads that serve an endpoint's connections, according to its own options or
    /// the configuration.
    pub(crate) fn serving_threads(
        &self,
        broker: &Broker,
        endpoint: &ListenEndpoint,
        pair: &Pair,
        properties: &Properties,
    ) -> Result<ServingThreads, SystemException> {
        if let Some(only) = &self.only {
            return self.only_pool(broker, endpoint, pair, only);
        }
        let options = endpoint
            .concurrency_options()
            .map_err(|expected| not_listening(endpoint, &expected))?;
        let reserved = endpoint.reservation();
        if let Some(reserved) = reserved.map_err(|why| not_served(endpoint, &why))? {
            let size = pool_size_of_reservation(options);
            let size = size.map_err(|expected| not_served(endpoint, &expected))?;
            if !pair.link.serves_without_blocking() {
                return Err(not_served(endpoint, &needs_threads(pair)));
            }
            let pool = self.pool(broker, (size, Some(reserved)), properties);
            return pool
                .map(|pool| ServingThreads::Pool(pool, None))
                .map_err(|error| not_started(endpoint, &error));
        }
        let said = broker.config().concurrency.overridden_by(options);
        let concurrency = said.map_err(|expected| not_listening(endpoint, &expected))?;
        if concurrency == Concurrency::ThreadPerConnection {
            return Ok(ServingThreads::PerConnection);
        }
        let link = pair.link.name();
        if !pair.link.serves_without_blocking() {
            if !options.is_empty() {
                let reason = format!(
                    "connections of `{link}` need a thread each, which `{concurrency}` does not give them"
                );
                return Err(not_listening(endpoint, &reason));
            }
            tracing::info!(%endpoint, "`{link}` is served by a thread for each connection");
            return Ok(ServingThreads::PerConnection);
        }
        let pool = match concurrency {
            Concurrency::LeaderFollowers(size) => self.pool(broker, (size, None), properties),
            _ => self.reactive(broker, pair, properties),
        };
        pool.map(|pool| ServingThreads::Pool(pool, None))
            .map_err(|error| not_started(endpoint, &error))
    }

    /// Returns the number of requests that wait for a thread.
    pub(super) fn buffered_requests(&self) -> usize {
        let buffer = self.only.as_ref().and_then(PoolThreads::buffer);
        buffer.map_or(0, |buffer| buffer.len())
    }

    fn only_pool(
        &self,
        broker: &Broker,
        endpoint: &ListenEndpoint,
        pair: &Pair,
        only: &PoolThreads,
    ) -> Result<ServingThreads, SystemException> {
        if !pair.link.serves_without_blocking() {
            return Err(not_listening(endpoint, &needs_threads(pair)));
        }
        if !matches!(endpoint.reservation(), Ok(None)) {
            let why =
                "the reservation of its threads is set in the thread pool, not at its endpoints";
            return Err(not_served(endpoint, &why));
        }
        let started = self.lock().first_pool.clone();
        let pool = match started {
            Some(pool) => Ok(pool),
            None => self.start_only(broker, only),
        };
        pool.map(|pool| ServingThreads::Pool(pool, only.buffer().cloned()))
            .map_err(|error| not_started(endpoint, &error))
    }

    fn start_only(&self, broker: &Broker, only: &PoolThreads) -> io::Result<Arc<LeaderFollowers>> {
        let reactor = reactor(broker, &Properties::NONE, Duration::ZERO)?;
        let reserve = only.set_up(&reactor);
        self.start_first(reactor, only.size(), (reserve, usize::MAX))
    }

    fn reactive(
        &self,
        broker: &Broker,
        pair: &Pair,
        properties: &Properties,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let mut state = self.lock();
        if let Some(reactive) = &state.reactive {
            return Ok(reactive.clone());
        }
        let reactor = match state.callers_only.take() {
            Some(reactor) => reactor,
            None => reactor(broker, properties, spin_of(broker, pair))?,
        };
        let one = PoolSize {
            threads: 1,
            most: 1,
            reserve: false,
        };
        let spec = self.spec.with_name("punctual-react");
        let pool = state.start(reactor, spec, (one, None), (None, usize::MAX))?;
        state.reactive = Some(pool.clone());
        Ok(pool)
    }

    fn pool(
        &self,
        broker: &Broker,
        size: Size,
        properties: &Properties,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let reserve = size.0.reserve.then(ReserveOptions::default);
        // More threads than processors are of use to upcalls that block, and in the way of short ones.
        let at_once = usize::try_from(processor::of_process()).unwrap_or(usize::MAX);
        let growth = (reserve, at_once);
        // No thread spins for all others: an event wakes one of those that sleep in any case.
        let reactor = reactor(broker, properties, Duration::ZERO)?;
        self.start_first(reactor, size, growth)
    }

    fn start_first(
        &self,
        reactor: Arc<Reactor>,
        size: Size,
        growth: Growth,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let mut state = self.lock();
        let spec = self.spec.with_name("punctual-pool");
        let pool = state.start(reactor, spec, size, growth)?;
        state.first_pool.get_or_insert_with(|| pool.clone());
        Ok(pool)
    }

    /// Returns the reactor that callers serve while they wait.
    pub(crate) fn for_callers(&self, broker: &Broker, in_pool: bool) -> io::Result<Arc<Reactor>> {
        let mut state = self.lock();
        let pool = match in_pool {
            true => state.first_pool.as_ref().or(state.reactive.as_ref()),
            false => state.reactive.as_ref(),
        };
        if let Some(pool) = pool {
            return Ok(pool.reactor().clone());
        }
        if let Some(reactor) = &state.callers_only {
            return Ok(reactor.clone());
        }
        let reactor = reactor(broker, &Properties::NONE, Duration::ZERO)?;
        state.callers_only = Some(reactor.clone());
        Ok(reactor)
    }

    /// Releases all reactors; each one ends with its last connection.
    pub(crate) fn release(&self) {
        let gone = {
            let mut state = self.lock();
            (state.reactive.take(), state.first_pool.take())
        };
        drop(gone);
    }

    /// Waits until the threads of all reactors have ended.
    pub(crate) fn wait_until_ended(&self) {
        let pools = std::mem::take(&mut self.lock().pools);
        for threads in pools {
            // Without a deadline it returns only when all threads have ended.
            let _ = threads.wait_until_at_most(0, punctual_exec::Deadline::NEVER);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn start(
        &mut self,
        reactor: Arc<Reactor>,
        spec: ThreadSpec,
        (size, reserved): Size,
        (reserve, at_once): Growth,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let options = PoolOptions {
            spec,
            serving: reserved.map(Scheduling::Deadline),
            threads: size.threads,
            max_threads: size.most,
            at_once,
            reserve,
        };
        let pool = LeaderFollowers::start(reactor, &options).map_err(io::Error::other)?;
        // Groups that have ended are no longer needed.
        self.pools.retain(|threads| !threads.is_empty());
        self.pools.push(pool.thread_group());
        Ok(Arc::new(pool))
    }
}

/// Returns the time for which a thread that waits for one connection on the link spins by default.
fn spin_of(broker: &Broker, pair: &Pair) -> Duration {
    let config = broker.config();
    match pair.link.name() {
        "iiop" => config.iiop.spin.budget,
        "uiop" => config.uiop.spin.budget,
        _ => Duration::ZERO,
    }
}

/// Makes a reactor whose threads spin for `spin` before they sleep, unless properties say otherwise.
pub(super) fn reactor(
    broker: &Broker,
    properties: &Properties,
    spin: Duration,
) -> io::Result<Arc<Reactor>> {
    Reactor::new(options_of(broker.config(), properties, spin))
}

fn options_of(config: &OrbConfig, properties: &Properties, spin: Duration) -> ReactorOptions {
    let connections = config
        .max_connections
        .saturating_add(config.client_connections);
    // The link has checked these properties: an invalid one has prevented the start.
    let parse = |name| properties.get(name).and_then(|text| text.parse().ok());
    let always = properties
        .get("spin_always")
        .and_then(|text| text.parse().ok());
    ReactorOptions {
        registrations: u32::try_from(connections).unwrap_or(u32::MAX),
        spin: parse("spin_us").map_or(spin, Duration::from_micros),
        spin_always: always.unwrap_or_default(),
        busy_poll: parse("busy_poll_us").map(Duration::from_micros),
    }
}

/// Returns the error for an endpoint that could not be opened.
pub(crate) fn not_listening(
    endpoint: &ListenEndpoint,
    error: &dyn std::fmt::Display,
) -> SystemException {
    SystemException::new(Kind::Initialize, minor::LISTEN_FAILED, CompletionStatus::No)
        .with_detail(format!("{endpoint}: {error}"))
}

fn needs_threads(pair: &Pair) -> String {
    let link = pair.link.name();
    format!("connections of `{link}` need a thread each: no pool serves them")
}

/// Returns the error for an endpoint whose threads could not be started: INV_POLICY if their
/// reservation was refused.
fn not_started(endpoint: &ListenEndpoint, error: &io::Error) -> SystemException {
    let of_spawn = error.get_ref().and_then(|error| error.downcast_ref());
    match of_spawn {
        Some(SpawnError::Refused {
            requirement: Requirement::Scheduling(Scheduling::Deadline(reserved)),
            error,
        }) => not_served(endpoint, &reserved.refusal(error)),
        _ => not_listening(endpoint, error),
    }
}

/// Returns the error for an endpoint whose requests cannot be served as its options require.
fn not_served(endpoint: &ListenEndpoint, why: &dyn std::fmt::Display) -> SystemException {
    invalid(format!("{endpoint}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoints_properties_say_how_long_its_threads_poll() {
        let (config, spin) = (OrbConfig::default(), Duration::from_micros(50));
        let options = options_of(&config, &Properties::NONE, spin);
        assert_eq!((options.spin, options.busy_poll), (spin, None));
        let given = Properties::from_iter([("spin_us", "0"), ("busy_poll_us", "70")]);
        let options = options_of(&config, &given, spin);
        let expected = (Duration::ZERO, Some(Duration::from_micros(70)));
        assert_eq!((options.spin, options.busy_poll), expected);
    }
}
