//! Support for valuetypes in the ORB: the registered factories (CORBA 3.3 part 1, §9.4), and
//! functions for generated handles.
//!
//! A received value is created by the factory that is registered for its repository id. If there is
//! none, and the repository id is that of the value's declared type, the generated type creates the
//! value, with its state but without operations.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use parking_lot::RwLock;
use punctual_cdr::{ValueFactory, ValueRef};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Value factories of an ORB, by repository id.
#[derive(Default)]
pub(crate) struct ValueFactories(RwLock<HashMap<String, Arc<dyn ValueFactory>>>);

impl ValueFactories {
    /// Registers a factory. Returns the factory that was previously registered for the type, if
    /// any.
    pub(crate) fn register(&self, factory: impl ValueFactory) -> Option<Arc<dyn ValueFactory>> {
        let id = factory.repository_id().to_owned();
        self.0.write().insert(id, Arc::new(factory))
    }

    pub(crate) fn unregister(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.0.write().remove(id)
    }

    pub(crate) fn lookup(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.0.read().get(id).map(Arc::clone)
    }
}

impl fmt::Debug for ValueFactories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}

/// Returns a value's operations, or any other view that its factory provides.
///
/// # Errors
/// NO_IMPLEMENT if the value was not created by a factory with operations.
pub fn operations_of<V: 'static>(value: &ValueRef) -> Result<V, SystemException> {
    value.view().ok_or_else(|| {
        let id = value.repository_id();
        not_implemented(format!("no factory with operations made this {id}"))
    })
}

/// Returns the exception NO_IMPLEMENT for a call of an initializer whose factory does not implement
/// it.
#[must_use]
pub fn no_initializer(id: &str) -> SystemException {
    not_implemented(format!("this factory of {id} has no initializers"))
}

fn not_implemented(detail: String) -> SystemException {
    SystemException::new(
        SystemExceptionKind::NoImplement,
        minor::NO_VALUE_IMPLEMENTATION,
        CompletionStatus::No,
    )
    .with_detail(detail)
}
