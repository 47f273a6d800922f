//! Interface of the called object, with what its source declares beside it.

use punctual::TypeCode;
use punctual::description::InterfaceDescription;
use punctual_idl::model::Specification;

/// An interface, and the other declarations of its IDL, if available.
pub(super) struct FoundInterface {
    pub(super) interface: InterfaceDescription,
    pub(super) specification: Option<Specification>,
    /// Valuetypes of the Interface Repository, for an interface whose operations have values.
    pub(super) value_types: Vec<TypeCode>,
}

impl FoundInterface {
    pub(super) fn described(interface: InterfaceDescription) -> Self {
        Self {
            interface,
            specification: None,
            value_types: Vec::new(),
        }
    }
}
