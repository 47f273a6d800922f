//! The scheduler as a service process runs it.

use punctual::{Interface, ObjectRef, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::{ServeError, Service};

use crate::service::SchedulingService;

impl Service for SchedulingService {
    const NAME: &'static str = "scheduler";
    const INITIAL_REFERENCE: &'static str = "SchedulingService";

    fn summary(&self) -> Option<String> {
        Some(format!("{} operations", self.operations()))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        Ok(Self::serve(self, parent)?.as_object().clone())
    }

    fn check_alive(&self) {
        // Takes the lock of the state, which a hanging thread may hold.
        let _ = self.operations();
    }

    fn metrics(&self, out: &mut Exposition) {
        self.write_metrics(out);
    }
}
