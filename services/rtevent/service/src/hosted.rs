//! The service as a process runs it.

use punctual::{Interface, ObjectRef, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::{ServeError, Service};

use crate::service::EventService;

impl Service for EventService {
    const NAME: &'static str = "events";
    const INITIAL_REFERENCE: &'static str = "EventService";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        Ok(Self::serve(self, parent)?.as_object().clone())
    }

    fn metrics(&self, out: &mut Exposition) {
        self.write_metrics(out);
    }
}
