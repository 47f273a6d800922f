//! Client and server interceptors that count calls.

use super::operations::{Ended, Operations};
use super::render::{Network, render};
use crate::http::{Reply, Server};
use crate::served::Served;
use parking_lot::Mutex;
use punctual_orb::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, OrbInitInfo, OrbInitializer,
    ReplyStatus, ServerRequestInfo, ServerRequestInterceptor, SystemException,
    SystemExceptionKind as Kind, WeakOrb, measurement,
};
use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Metrics of an ORB's calls: `Orb::builder().initializer(Arc::new(metrics.clone()))`. Cheap to
/// clone; clones share their counters.
///
/// A call is counted when it ends. Each attempt of a repeated call is counted separately. An
/// asynchronous call is counted when its result is taken, and its duration is not measured.
#[derive(Clone, Debug)]
pub struct Metrics {
    counters: Arc<EndCounters>,
    /// HTTP server that publishes the metrics, if there is one.
    http: Option<Arc<Server>>,
}

/// Counters of the client's and of the server's end.
#[derive(Debug)]
struct EndCounters {
    client: Operations,
    server: Operations,
    /// Start times of the requests that the server is executing.
    served: Served<Instant>,
    /// ORBs that count, whose links' counts are shown. They hold the metrics, which therefore do not hold them.
    orbs: Mutex<Vec<WeakOrb>>,
}

/// Default number of operations that are counted by name at each end.
const MOST: usize = 256;

impl Metrics {
    /// Makes metrics with the default limit of 256 operations.
    #[must_use]
    pub fn new() -> Self {
        Self::with_most_operations(MOST)
    }

    /// Makes metrics that count up to `most` operations by name at each end; all further operations
    /// are counted together as one.
    #[must_use]
    pub fn with_most_operations(most: usize) -> Self {
        let counters = EndCounters {
            client: Operations::new(most),
            server: Operations::new(most),
            served: Served::default(),
            orbs: Mutex::default(),
        };
        Self {
            counters: Arc::new(counters),
            http: None,
        }
    }

    /// Makes metrics that are served by HTTP at this address, such as `127.0.0.1:9464`, as long as a
    /// clone of them is held, as an ORB does: `/metrics` for Prometheus, `/health` for a supervisor.
    ///
    /// All peers that reach the address may read the names of operations and how often they are called.
    ///
    /// # Errors
    /// The address is in use or not of this machine; the system has no thread for it.
    pub fn served_at(address: &str) -> io::Result<Self> {
        let metrics = Self::new();
        // Without the server, which would keep itself otherwise.
        let shown = metrics.clone();
        let reply = move |path: &str| match path {
            "/health" | "/live" => Reply::ok("alive\n"),
            "/metrics" => Reply::ok(shown.render()),
            _ => Reply::not_found("there are /health, /live and /metrics\n"),
        };
        let http = Server::listen("punctual-metrics", address, reply)?;
        Ok(Self {
            http: Some(Arc::new(http)),
            ..metrics
        })
    }

    /// Returns the address that they are served at, if they are served ([`Metrics::served_at`]).
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.http.as_deref().map(Server::address)
    }

    /// Returns all metrics in Prometheus' text format (`text/plain; version=0.0.4`).
    #[must_use]
    pub fn render(&self) -> String {
        let ends = [
            ("client", self.counters.client.all()),
            ("server", self.counters.server.all()),
        ];
        let network = self.counters.network();
        render(&ends, &network, measurement::current().as_ref())
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl OrbInitializer for Metrics {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        self.counters.orbs.lock().push(info.orb().downgrade());
        info.add_client_request_interceptor(Arc::new(AtEnd(self.clone())))?;
        info.add_server_request_interceptor(Arc::new(AtEnd(self.clone())))?;
        Ok(())
    }
}

/// Interceptor that measures client requests and server requests.
struct AtEnd(Metrics);

const NAME: &str = "punctual.metrics";

thread_local! {
    /// Start times of the unfinished calls of this thread, innermost last; `None` for a call whose
    /// reply is polled.
    static BEGUN: RefCell<Vec<Option<Instant>>> = const { RefCell::new(Vec::new()) };
}

fn begin(at: Option<Instant>) {
    BEGUN.with_borrow_mut(|begun| begun.push(at));
}

/// Counts a finished call, with its outcome and duration.
fn count(operations: &Operations, name: &str, ended: Ended, exists: bool) {
    let began = BEGUN.with_borrow_mut(Vec::pop).flatten();
    let took = began.map(|began| began.elapsed());
    operations.of(name, exists).count(ended, took);
}

impl EndCounters {
    /// Returns the counts of the links of all ORBs, added up by link and name, and of their connections by receive queues.
    fn network(&self) -> Network {
        let mut orbs = self.orbs.lock();
        let Network {
            links: mut all,
            mut queues,
        } = Network::default();
        orbs.retain(|orb| {
            let Some(orb) = orb.upgrade() else {
                return false;
            };
            for (queue, count) in orb.receive_queues() {
                *queues.entry(queue).or_default() += count;
            }
            for (link, counts) in orb.link_counts() {
                match all.get_mut(&link) {
                    // A link of one name counts the same in each ORB.
                    Some(sums) => sums.iter_mut().zip(counts).for_each(|(sum, count)| {
                        debug_assert_eq!(sum.name, count.name);
                        sum.value += count.value;
                    }),
                    None => {
                        all.insert(link, counts);
                    }
                }
            }
            true
        });
        Network { links: all, queues }
    }

    /// Counts a request that the server has answered.
    fn record_served(&self, info: &ServerRequestInfo<'_>, ended: Ended, exists: bool) {
        let began = self.served.ends(info.request_id());
        let took = began.map(|began| began.elapsed());
        self.server.of(info.operation(), exists).count(ended, took);
    }
}

/// Returns how an exception is counted, and whether the operation may exist: `false` after
/// BAD_OPERATION or OBJECT_NOT_EXIST. `None` stands for a user exception.
fn of_exception(system: Option<&SystemException>) -> (Ended, bool) {
    match system {
        Some(system) => (
            Ended::SystemException,
            !matches!(system.kind(), Kind::BadOperation | Kind::ObjectNotExist),
        ),
        None => (Ended::UserException, true),
    }
}

impl ClientRequestInterceptor for AtEnd {
    fn name(&self) -> &str {
        NAME
    }

    fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        begin(Some(Instant::now()));
        Ok(())
    }

    fn send_poll(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        begin(None);
        Ok(())
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        count(&self.0.counters.client, info.operation(), Ended::Well, true);
        Ok(())
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let (ended, _) = of_exception(info.received_system_exception());
        // The program itself makes the call, so the operation exists.
        count(&self.0.counters.client, info.operation(), ended, true);
        Ok(())
    }

    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let is_on_its_way =
            info.response_expected() && info.reply_status()? == ReplyStatus::Successful;
        if is_on_its_way {
            // The call is asynchronous: it counts when its result is taken.
            BEGUN.with_borrow_mut(Vec::pop);
        } else {
            count(&self.0.counters.client, info.operation(), Ended::Well, true);
        }
        Ok(())
    }
}

impl ServerRequestInterceptor for AtEnd {
    fn name(&self) -> &str {
        NAME
    }

    fn receive_request_service_contexts(
        &self,
        info: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        self.0
            .counters
            .served
            .begins(info.request_id(), Instant::now());
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.0.counters.record_served(info, Ended::Well, true);
        Ok(())
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        // Names of unknown operations are not kept, as peers can send any number of them.
        let (ended, exists) = of_exception(info.sending_system_exception());
        let exists = exists && info.object_id().is_ok();
        self.0.counters.record_served(info, ended, exists);
        Ok(())
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let exists = info.object_id().is_ok();
        self.0.counters.record_served(info, Ended::Well, exists);
        Ok(())
    }
}
