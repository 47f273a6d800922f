//! Who serves an endpoint's connections: the strategies of [`Concurrency`].
//!
//! *A thread for each* blocks in receiving ([`super::receive`]). The others share a reactor
//! (`punctual_exec::reactor`): its threads wait in `epoll`, and whichever is told of a connection owns it
//! for a turn ([`ready`]): receives until there is no more, serves all whole requests of that, and never
//! waits for the peer: what it does not take of its replies is queued ([`outbox`]). The reactor of
//! *reactive* endpoints has one thread and is shared by all of them, that of *Leader/Followers* has a pool,
//! one for each endpoint.

mod outbox;
mod ready;
mod turn;

pub(super) use turn::OnReactor;

use super::listen::not_listening;
use crate::config::{Concurrency, ListenEndpoint, PoolSize};
use crate::exception::SystemException;
use crate::orb::Orb;
use crate::protocol::Pair;
use punctual_exec::leader_followers::PoolOptions;
use punctual_exec::reactor::ReactorOptions;
use punctual_exec::{LeaderFollowers, Reactor, ThreadGroup};
use punctual_link::Properties;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Who serves the connections of one endpoint.
#[derive(Clone, Debug)]
pub(super) enum Staff {
    /// A thread for each.
    Threads,
    /// The threads of a reactor.
    Pool(Arc<LeaderFollowers>),
}

/// The reactors of a lane.
#[derive(Debug, Default)]
pub(crate) struct Reactors {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// That of reactive endpoints.
    reactive: Option<Arc<LeaderFollowers>>,
    /// That of the first endpoint with a pool.
    first_pool: Option<Arc<LeaderFollowers>>,
    /// Run by those who wait for replies and by nobody else, where there are no such endpoints.
    unmanned: Option<Arc<Reactor>>,
    /// The threads of all pools there ever were, for who waits for their end.
    crews: Vec<ThreadGroup>,
}

impl Reactors {
    /// Who serves an endpoint's connections, as it says itself or the configuration does for all.
    pub(super) fn staff(
        &self,
        orb: &Orb,
        endpoint: &ListenEndpoint,
        pair: &Pair,
        properties: &Properties,
    ) -> Result<Staff, SystemException> {
        let wording = endpoint
            .wording()
            .map_err(|expected| not_listening(endpoint, &expected))?;
        let said = orb.config().concurrency.said(wording);
        let concurrency = said.map_err(|expected| not_listening(endpoint, &expected))?;
        if concurrency == Concurrency::ThreadPerConnection {
            return Ok(Staff::Threads);
        }
        let link = pair.link.name();
        if !pair.link.serves_without_blocking() {
            if !wording.is_empty() {
                let reason = format!(
                    "connections of `{link}` need a thread each: `{concurrency}` is not for them"
                );
                return Err(not_listening(endpoint, &reason));
            }
            tracing::info!(%endpoint, "`{link}` is served by a thread for each connection");
            return Ok(Staff::Threads);
        }
        let pool = match concurrency {
            Concurrency::LeaderFollowers(size) => self.pool(orb, size, properties),
            _ => self.reactive(orb, properties),
        };
        pool.map(Staff::Pool)
            .map_err(|error| not_listening(endpoint, &error))
    }

    fn reactive(&self, orb: &Orb, properties: &Properties) -> io::Result<Arc<LeaderFollowers>> {
        let mut state = self.lock();
        if let Some(reactive) = &state.reactive {
            return Ok(reactive.clone());
        }
        let reactor = match state.unmanned.take() {
            Some(reactor) => reactor,
            None => reactor(orb, properties)?,
        };
        let one = PoolSize {
            threads: 1,
            most: 1,
            reserve: false,
        };
        let pool = state.start(reactor, "punctual-react", one)?;
        state.reactive = Some(pool.clone());
        Ok(pool)
    }

    fn pool(
        &self,
        orb: &Orb,
        size: PoolSize,
        properties: &Properties,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let mut state = self.lock();
        let pool = state.start(reactor(orb, properties)?, "punctual-pool", size)?;
        state.first_pool.get_or_insert_with(|| pool.clone());
        Ok(pool)
    }

    /// The reactor that callers serve while they wait.
    pub(crate) fn for_callers(&self, orb: &Orb, in_pool: bool) -> io::Result<Arc<Reactor>> {
        let mut state = self.lock();
        let pool = match in_pool {
            true => state.first_pool.as_ref().or(state.reactive.as_ref()),
            false => state.reactive.as_ref(),
        };
        if let Some(pool) = pool {
            return Ok(pool.reactor().clone());
        }
        if let Some(reactor) = &state.unmanned {
            return Ok(reactor.clone());
        }
        let reactor = reactor(orb, &Properties::NONE)?;
        state.unmanned = Some(reactor.clone());
        Ok(reactor)
    }

    /// Lets go of all reactors: each ends with its last connection.
    pub(super) fn release(&self) {
        let gone = {
            let mut state = self.lock();
            (state.reactive.take(), state.first_pool.take())
        };
        drop(gone);
    }

    /// Waits until their threads have ended.
    pub(super) fn wait_until_ended(&self) {
        let crews = std::mem::take(&mut self.lock().crews);
        for crew in crews {
            // Without a deadline it returns only when they are gone.
            let _ = crew.wait_until_at_most(0, punctual_exec::Deadline::NEVER);
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
        name: &str,
        size: PoolSize,
    ) -> io::Result<Arc<LeaderFollowers>> {
        let options = PoolOptions {
            spec: name.into(),
            threads: size.threads,
            max_threads: size.most,
            reserve: size.reserve,
        };
        let pool = LeaderFollowers::start(reactor, &options).map_err(io::Error::other)?;
        // Those that have ended are of no interest any more.
        self.crews.retain(|crew| !crew.is_empty());
        self.crews.push(pool.thread_group());
        Ok(Arc::new(pool))
    }
}

fn reactor(orb: &Orb, properties: &Properties) -> io::Result<Arc<Reactor>> {
    let config = orb.config();
    let connections = config
        .max_connections
        .saturating_add(config.client_connections);
    // The link has checked these: one that does not fit has stopped the start.
    let parse = |name| properties.get(name).and_then(|text| text.parse().ok());
    let always = properties
        .get("spin_always")
        .and_then(|text| text.parse().ok());
    Reactor::new(ReactorOptions {
        registrations: u32::try_from(connections).unwrap_or(u32::MAX),
        spin: parse("spin_us").map_or(Duration::ZERO, Duration::from_micros),
        spin_always: always.unwrap_or_default(),
    })
}
