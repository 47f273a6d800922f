//! The event service as a service process runs it.

use punctual::config::{Concurrency, PoolSize};
use punctual::{Interface, ObjectRef, OrbConfig, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::publish::publish;
use punctual_host::{ServeError, Service};

use crate::channels::{DEFAULT, TYPED};
use crate::factory::{FACTORY, OMNI_FACTORY};
use crate::service::EventService;

impl Service for EventService {
    const NAME: &'static str = "cosevent";
    const INITIAL_REFERENCE: &'static str = DEFAULT;

    /// Requests are short, as none waits for a peer: a pool of threads serves any number of connections, and its answers
    /// to calls of `pull` wait for no client.
    fn configure(config: &mut OrbConfig) {
        config.concurrency = Concurrency::LeaderFollowers(PoolSize {
            threads: 2,
            reserve: false,
            ..PoolSize::default()
        });
    }

    fn summary(&self) -> Option<String> {
        let (channels, proxies) = self.size();
        Some(format!("{channels} channels with {proxies} proxies"))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let root = Self::serve(self, parent).map_err(ServeError::of::<Self>)?;
        for name in [FACTORY, OMNI_FACTORY] {
            publish(parent.orb(), name, root.factory.as_object())
                .map_err(ServeError::of::<Self>)?;
        }
        if let Some(typed) = &root.typed_channel {
            publish(parent.orb(), TYPED, typed.as_object()).map_err(ServeError::of::<Self>)?;
        }
        Ok(root.channel.as_object().clone())
    }

    fn check_alive(&self) {
        // Takes the locks of all channels, which a hanging thread may hold.
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
