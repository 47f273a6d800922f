//! Extension data that crates built on this one attach to an ORB.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Extensions by type; none is added after the ORB has started.
#[derive(Clone, Default)]
pub(crate) struct Extensions(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Extensions {
    pub(crate) fn add<T: Any + Send + Sync>(&mut self, extension: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), extension);
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let extension = self.0.get(&TypeId::of::<T>())?.clone();
        extension.downcast().ok()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} extensions", self.0.len())
    }
}
