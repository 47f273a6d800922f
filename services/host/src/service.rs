//! The interface between a service and the process that it runs in.

use punctual::{ObjectRef, OrbConfig, Poa};
use thiserror::Error;

use crate::metrics::Exposition;

/// Reason that a service's objects cannot be activated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the {service} service cannot be served: {reason}")]
pub struct ServeError {
    /// Name of the service.
    pub service: &'static str,
    /// Cause of the error, as the ORB reports it.
    pub reason: String,
}

impl ServeError {
    /// Returns the error of a service, with a reason.
    pub fn of<S: Service>(reason: impl std::fmt::Display) -> Self {
        Self {
            service: S::NAME,
            reason: reason.to_string(),
        }
    }
}

/// Reason that a service cannot answer requests at present.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotReady(pub String);

/// A service as [`run`](crate::run::run) starts, watches and ends it.
pub trait Service: Send + Sync + 'static {
    /// Name in metrics, log lines and names of threads, in lower case: `naming`.
    const NAME: &'static str;

    /// Name of its initial reference, which is its object key in `corbaloc:` URLs, too: `NameService`.
    const INITIAL_REFERENCE: &'static str;

    /// Sets defaults of the ORB that suit the service. The configuration file goes before them.
    fn configure(config: &mut OrbConfig) {
        let _ = config;
    }

    /// Activates the service's objects below an adapter, and returns the reference to publish. The adapter's manager
    /// is activated afterwards.
    ///
    /// # Errors
    /// The adapters cannot be created.
    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError>;

    /// Checks that requests can be answered now, as far as is known. Returns at once.
    ///
    /// # Errors
    /// They cannot, e.g. since the store is not reachable.
    fn check_ready(&self) -> Result<(), NotReady> {
        Ok(())
    }

    /// Takes the locks that each request takes, so that the watchdog is not notified while a thread hangs in one.
    fn check_alive(&self) {}

    /// Writes the service's metrics. Readiness is written by the caller.
    fn metrics(&self, out: &mut Exposition);

    /// Ends what the service has begun, after the ORB is shut down.
    fn stop(&self) {}
}
