//! The service as a process runs it.

use punctual::{Interface, ObjectRef, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::publish::publish;
use punctual_host::{ServeError, Service};

use crate::service::EventService;

/// Name of the server of addresses: `corbaloc:iiop:HOST:PORT/EventAddresses`.
const ADDRESSES: &str = "EventAddresses";

impl Service for EventService {
    const NAME: &'static str = "events";
    const INITIAL_REFERENCE: &'static str = "EventService";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let channel = Self::serve(self, parent)?;
        if let Some(addresses) = self.address_server() {
            publish(parent.orb(), ADDRESSES, addresses.as_object())
                .map_err(ServeError::of::<Self>)?;
        }
        Ok(channel.as_object().clone())
    }

    fn metrics(&self, out: &mut Exposition) {
        self.write_metrics(out);
    }
}
