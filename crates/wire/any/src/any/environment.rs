//! Environment of references and values in an Any.

use super::Any;
use punctual_cdr::{Environment, ValueFactory};
use std::any::Any as Anything;
use std::sync::Arc;

/// Environment of an Any that was made locally: the factories of the values in it, in addition to
/// those of another environment. Without them a value of a derived type would be truncated to its
/// base when the Any is encoded again.
#[derive(Clone)]
pub(super) struct LocalEnvironment {
    factories: Arc<[Arc<dyn ValueFactory>]>,
    beside: Option<Arc<dyn Environment>>,
}

impl LocalEnvironment {
    /// Returns an environment with these factories; `None` if there are none.
    pub(super) fn of(factories: Vec<Arc<dyn ValueFactory>>) -> Option<Arc<dyn Environment>> {
        if factories.is_empty() {
            return None;
        }
        Some(Arc::new(Self {
            factories: factories.into(),
            beside: None,
        }))
    }

    /// Returns the factories of an Any that was made locally.
    pub(super) fn factories(environment: &dyn Environment) -> &[Arc<dyn ValueFactory>] {
        let any: &dyn Anything = environment;
        any.downcast_ref()
            .map_or(&[], |this: &Self| &this.factories)
    }
}

impl Environment for LocalEnvironment {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(self.clone())
    }

    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        let own = self.factories.iter().find(|one| one.repository_id() == id);
        own.cloned()
            .or_else(|| self.beside.as_ref()?.value_factory(id))
    }

    fn inner(&self) -> Option<&dyn Environment> {
        self.beside.as_deref()
    }
}

impl Any {
    /// Returns the same value in another environment, which its references and values use when they
    /// are extracted: that of an ORB, for an Any that was made locally instead of received.
    #[must_use]
    pub fn in_environment(mut self, environment: &dyn Environment) -> Self {
        if let Some(body) = &mut self.body {
            let body = Arc::make_mut(body);
            let present = body.environment.as_deref();
            let factories = present.map_or(&[][..], LocalEnvironment::factories);
            let shared = environment.share();
            body.environment = Some(match factories {
                [] => shared,
                factories => Arc::new(LocalEnvironment {
                    factories: factories.into(),
                    beside: Some(shared),
                }),
            });
        }
        self
    }
}
