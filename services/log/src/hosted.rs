//! The log service as a service process runs it.

use punctual::config::{Concurrency, PoolSize};
use punctual::{Interface, ObjectRef, OrbConfig, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::publish::publish;
use punctual_host::{ServeError, Service};

use crate::servant::{EVENT_FACTORY, FACTORY, NOTIFY_FACTORY};
use crate::service::LogService;

impl Service for LogService {
    const NAME: &'static str = "log";
    const INITIAL_REFERENCE: &'static str = FACTORY;

    /// Requests wait for no client, but for the disk: meanwhile other threads of the pool serve.
    fn configure(config: &mut OrbConfig) {
        config.concurrency = Concurrency::LeaderFollowers(PoolSize {
            threads: 2,
            reserve: false,
            ..PoolSize::default()
        });
    }

    fn summary(&self) -> Option<String> {
        let (logs, records) = self.size();
        Some(format!("{logs} logs with {records} records"))
    }

    /// Publishes the factories by their own names, and by those that clients of TAO and VisiBroker resolve.
    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let root = Self::serve(self, parent).map_err(ServeError::of::<Self>)?;
        for (name, reference) in [
            ("BasicLogService", root.basic.as_object()),
            (EVENT_FACTORY, root.event.as_object()),
            ("EventLogService", root.event.as_object()),
            (NOTIFY_FACTORY, root.notify.as_object()),
            ("NotifyLogService", root.notify.as_object()),
        ] {
            publish(parent.orb(), name, reference).map_err(ServeError::of::<Self>)?;
        }
        Ok(root.basic.as_object().clone())
    }

    fn check_alive(&self) {
        // Takes the locks of all logs, which a hanging thread may hold.
        let _ = self.size();
    }

    fn metrics(&self, out: &mut Exposition) {
        self.write_metrics(out);
    }

    fn end_waiting(&self) {
        Self::end_waiting(self);
    }

    fn stop(&self) {
        Self::stop(self);
    }
}
