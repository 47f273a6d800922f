//! The interface between a service and the process that it runs in.

use std::fmt::Debug;
use std::sync::Arc;

use punctual::{ObjectRef, OrbConfig, Poa};
use thiserror::Error;

use crate::metrics::Exposition;

/// Reason why a service's objects cannot be activated.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the {service} service cannot be served: {reason}")]
pub struct ServeError {
    /// Name of the service that cannot be served.
    pub service: &'static str,
    /// Cause of the error, as the ORB reports it.
    pub reason: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl ServeError {
    /// Returns the error for a service that cannot be served, with a reason.
    pub fn of<S: Service>(reason: impl std::fmt::Display) -> Self {
        Self {
            service: S::NAME,
            reason: reason.to_string(),
        }
    }
}

/// Reason why a service cannot answer requests at present.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotReady(pub String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for NotReady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Right to serve, which a process waits for and may lose to another one.
pub trait Turn: Debug + Send + Sync {
    /// Waits until this process has the right. Returns false if `is_ending` returns true meanwhile, which is asked several
    /// times a second.
    ///
    /// # Errors
    /// The reason for which it cannot have it.
    fn wait(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<bool, NotReady>;

    /// Returns the reason for which this process has lost the right, if it has.
    fn loss(&self) -> Option<String>;

    /// Checks that this process has the right now, before it does what cannot be undone. Blocks.
    ///
    /// # Errors
    /// It has lost the right, or cannot know whether it has it.
    fn confirm(&self) -> Result<(), NotReady>;
}

/// Service, as [`run`](crate::run::run) starts, monitors and ends it.
pub trait Service: Send + Sync + 'static {
    /// Name of the service in metrics, log lines and names of threads, in lower case: `naming`.
    const NAME: &'static str;

    /// Name of the service's initial reference, which is also its object key in `corbaloc:` URLs:
    /// `NameService`.
    const INITIAL_REFERENCE: &'static str;

    /// Sets defaults of the ORB that suit the service. The configuration file goes before them.
    fn configure(config: &mut OrbConfig) {
        let _ = config;
    }

    /// Returns a line about what was opened, such as the number of entries in its store, which is printed once the
    /// service has started.
    fn summary(&self) -> Option<String> {
        None
    }

    /// Returns the right that the process waits for before it listens, where several processes have the service and one
    /// serves at a time. A process that loses it ends.
    fn turn(&self) -> Option<Arc<dyn Turn>> {
        None
    }

    /// Activates the service's objects below an adapter, and returns the reference to publish. The adapter's manager
    /// is activated afterwards.
    ///
    /// # Errors
    /// The adapters cannot be created.
    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError>;

    /// Returns references that are printed after that of [`serve`](Self::serve), in this order: those of another service in
    /// the same process. Called once the service has started.
    fn further_references(&self) -> Vec<ObjectRef> {
        Vec::new()
    }

    /// Checks whether requests can be answered now, as far as is known. Returns at once.
    ///
    /// # Errors
    /// The reason why they cannot, e.g. that the store cannot be reached.
    fn check_ready(&self) -> Result<(), NotReady> {
        Ok(())
    }

    /// Acquires and releases the locks that each request takes, so that the watchdog is not
    /// notified while a thread hangs in one of them.
    fn check_alive(&self) {}

    /// Writes the service's metrics, except readiness, which the caller writes.
    fn metrics(&self, out: &mut Exposition);

    /// Answers the calls that wait in the service, and lets none wait from now on. Called before the ORB's shutdown,
    /// which waits for requests in progress.
    fn end_waiting(&self) {}

    /// Ends the activities that the service has started. Called after the ORB's shutdown.
    fn stop(&self) {}
}
