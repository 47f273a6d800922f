//! The interceptors of both ends.

use super::operations::{Ended, Operations};
use super::render::render;
use crate::served::Served;
use punctual_orb::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, OrbInitInfo, OrbInitializer,
    ReplyStatus, ServerRequestInfo, ServerRequestInterceptor, SystemException,
    SystemExceptionKind as Kind,
};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

/// Metrics of an ORB's calls: `Orb::builder().initializer(Arc::new(metrics.clone()))`. Cheap to clone; clones count together.
///
/// A call counts when it has ended: each attempt of one that is sent more than once by itself; one whose caller goes on
/// when its result is taken, without its time.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Both>);

/// What is known at each end.
#[derive(Debug)]
struct Both {
    client: Operations,
    server: Operations,
    /// When the requests began that are served.
    served: Served<Instant>,
}

/// Operations that are known by their names at each end, unless another number is given.
const MOST: usize = 256;

impl Metrics {
    /// Of so many operations as are usual: 256.
    #[must_use]
    pub fn new() -> Self {
        Self::with_most_operations(MOST)
    }

    /// Of so many operations at each end; others count as one.
    #[must_use]
    pub fn with_most_operations(most: usize) -> Self {
        Self(Arc::new(Both {
            client: Operations::new(most),
            server: Operations::new(most),
            served: Served::default(),
        }))
    }

    /// All of them as text, as Prometheus scrapes it (`text/plain; version=0.0.4`).
    #[must_use]
    pub fn render(&self) -> String {
        render(&[
            ("client", self.0.client.all()),
            ("server", self.0.server.all()),
        ])
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl OrbInitializer for Metrics {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        info.add_client_request_interceptor(Arc::new(AtEnd(self.0.clone())))?;
        info.add_server_request_interceptor(Arc::new(AtEnd(self.0.clone())))?;
        Ok(())
    }
}

/// The interceptor of either end.
struct AtEnd(Arc<Both>);

const NAME: &str = "punctual.metrics";

thread_local! {
    /// When the calls began that have begun on this thread and not ended, innermost last; not of replies that are
    /// polled.
    static BEGUN: RefCell<Vec<Option<Instant>>> = const { RefCell::new(Vec::new()) };
}

fn begin(at: Option<Instant>) {
    BEGUN.with_borrow_mut(|begun| begun.push(at));
}

/// A call has ended.
fn count(operations: &Operations, name: &str, ended: Ended, exists: bool) {
    let began = BEGUN.with_borrow_mut(Vec::pop).flatten();
    let took = began.map(|began| began.elapsed());
    operations.of(name, exists).count(ended, took);
}

impl Both {
    /// A request has been answered.
    fn has_served(&self, info: &ServerRequestInfo<'_>, ended: Ended, exists: bool) {
        let began = self.served.ends(info.request_id());
        let took = began.map(|began| began.elapsed());
        self.server.of(info.operation(), exists).count(ended, took);
    }
}

/// What an exception counts as, and whether there is such an operation for all that it says.
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
        count(&self.0.client, info.operation(), Ended::Well, true);
        Ok(())
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let (ended, _) = of_exception(info.received_system_exception());
        // The program itself calls it.
        count(&self.0.client, info.operation(), ended, true);
        Ok(())
    }

    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let is_on_its_way =
            info.response_expected() && info.reply_status()? == ReplyStatus::Successful;
        if is_on_its_way {
            // Its caller goes on: it counts when its result is taken.
            BEGUN.with_borrow_mut(Vec::pop);
        } else {
            count(&self.0.client, info.operation(), Ended::Well, true);
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
        self.0.served.begins(info.request_id(), Instant::now());
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.0.has_served(info, Ended::Well, true);
        Ok(())
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        // Of a name that no object of the server knows nothing is kept: anybody can send any number of them.
        let (ended, exists) = of_exception(info.sending_system_exception());
        let exists = exists && info.object_id().is_ok();
        self.0.has_served(info, ended, exists);
        Ok(())
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let exists = info.object_id().is_ok();
        self.0.has_served(info, Ended::Well, exists);
        Ok(())
    }
}
