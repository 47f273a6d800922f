//! The Naming Service as a service process runs it.

use punctual::{Interface, ObjectRef, OrbConfig, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::{NotReady, ServeError, Service};

use crate::servant::ServeOptions;
use crate::service::NamingService;

/// Naming service, with the options with which it is served.
#[derive(Clone, Debug)]
pub struct NamingServer {
    /// Naming service that is served.
    pub service: NamingService,
    /// Options with which the naming service is served.
    pub options: ServeOptions,
}

/// Least default of `limits.received`, for machines with little memory.
const LEAST_RECEIVED: usize = 8 << 20;

impl Service for NamingServer {
    const NAME: &'static str = "naming";
    const INITIAL_REFERENCE: &'static str = "NameService";

    /// Names are short, and take up to eight times as much memory once decoded: the data of all
    /// peers may take a sixteenth of the memory instead of a quarter.
    fn configure(config: &mut OrbConfig) {
        config.budgets.received = (config.budgets.received / 4).max(LEAST_RECEIVED);
    }

    fn summary(&self) -> Option<String> {
        let size = self.service.size();
        Some(format!(
            "{} bindings in {} contexts",
            size.bindings, size.contexts
        ))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let root = self.service.serve(parent, self.options);
        let root = root.map_err(ServeError::of::<Self>)?;
        Ok(root.as_object().clone())
    }

    fn check_ready(&self) -> Result<(), NotReady> {
        let ready = self.service.check_ready();
        ready.map_err(|error| NotReady(error.to_string()))
    }

    fn check_alive(&self) {
        // Takes the lock of the tree, which a hanging thread may hold.
        let _ = self.service.size();
    }

    fn metrics(&self, out: &mut Exposition) {
        self.service.write_metrics(out);
    }
}
