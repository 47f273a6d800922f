//! The object that a request is for, as its adapter knows it.

use crate::policy::Policy;

/// See the module. Said by an object adapter of the upcall that the calling thread is about to make
/// ([`crate::Collocated::serving`]), and kept for the ending points of its request.
pub trait ServedObject: Send {
    /// The object's id.
    fn object_id(&self) -> Vec<u8>;

    /// What tells its adapter from others of the server.
    fn adapter_id(&self) -> Vec<u8>;

    /// The names from the root adapter to this one.
    fn adapter_name(&self) -> Vec<String>;

    /// The repository id of its most derived interface.
    fn most_derived_interface(&self) -> String;

    /// Whether it implements an interface.
    fn is_a(&self, repository_id: &str) -> bool;

    /// The policy of a type that its adapter has.
    fn policy(&self, policy_type: u32) -> Option<Policy>;
}
