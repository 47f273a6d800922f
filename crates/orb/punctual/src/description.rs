//! Descriptions of interfaces: operations, attributes and exceptions, from an Interface Repository or from the object itself.
//!
//! A program needs this module to learn at run time what an object can do (`interface_of`, with the Cargo feature `dynamic`), as browsers, gateways and test
//! tools do, or to describe an interface to a `dynamic::Gateway` or a dynamic servant.

pub use punctual_any::{
    AttributeDescription, ExceptionDescription, InterfaceDescription, OperationDescription,
    ParameterDescription, ParameterMode,
};
#[cfg(feature = "dynamic")]
pub use punctual_dynamic::{Repository, interface_of, repository_id_of};
