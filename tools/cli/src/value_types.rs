//! Valuetypes that IDL declares, for reading values of derived types where a base is declared.

use punctual::any::DynamicFactory;
use punctual_cdr::{Environment, ValueFactory};
use punctual_idl::model::Specification;
use punctual_idl_describe as describe;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns a factory for each valuetype of the IDL that has state, except custom ones, whose state
/// only their own code reads.
pub(crate) fn factories(specification: &Specification) -> impl Iterator<Item = DynamicFactory> {
    let types = describe::value_types(specification);
    types.filter_map(|type_code| DynamicFactory::new(&type_code).ok())
}

/// Environment for reading values without an ORB.
#[derive(Clone, Default)]
pub(crate) struct ValueTypes(HashMap<String, Arc<dyn ValueFactory>>);

impl ValueTypes {
    /// Adds the valuetypes of the IDL.
    pub(crate) fn add(&mut self, specification: &Specification) {
        for factory in factories(specification) {
            let id = factory.repository_id().to_owned();
            self.0.insert(id, Arc::new(factory));
        }
    }
}

impl Environment for ValueTypes {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(self.clone())
    }

    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.0.get(id).cloned()
    }
}

impl std::fmt::Debug for ValueTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
