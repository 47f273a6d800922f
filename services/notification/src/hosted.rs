//! The notification service as a service process runs it.

use std::sync::Arc;

use punctual::config::{Concurrency, PoolSize};
use punctual::{Interface, ObjectRef, OrbConfig, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::{NotReady, ServeError, Service, Turn};

use crate::factory::FACTORY;
use crate::service::NotificationService;

impl Service for NotificationService {
    const NAME: &'static str = "notification";
    const INITIAL_REFERENCE: &'static str = FACTORY;

    /// Requests are short, as none waits for a client: a pool of threads serves any number of connections, and its
    /// answers to calls of `pull` wait for no client.
    fn configure(config: &mut OrbConfig) {
        config.concurrency = Concurrency::LeaderFollowers(PoolSize {
            threads: 2,
            reserve: false,
            ..PoolSize::default()
        });
    }

    fn summary(&self) -> Option<String> {
        let (channels, proxies, _) = self.size();
        Some(format!("{channels} channels with {proxies} proxies"))
    }

    fn turn(&self) -> Option<Arc<dyn Turn>> {
        Self::turn(self)
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let factory = Self::serve(self, parent).map_err(ServeError::of::<Self>)?;
        Ok(factory.as_object().clone())
    }

    fn check_ready(&self) -> Result<(), NotReady> {
        match self.turn().is_none() || self.is_served() {
            true => Ok(()),
            false => Err(NotReady("it waits until it may serve".to_owned())),
        }
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
