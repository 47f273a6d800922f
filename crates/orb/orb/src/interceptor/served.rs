//! Target object of a request, as described by its adapter.

use crate::policy::Policy;

/// Description of the target object of a request. An object adapter provides it for the upcall that
/// the calling thread is about to make ([`crate::Collocated::serving`]); it is kept for the ending
/// points of the request.
pub trait ServedObject: Send {
    /// Returns the object id of the request's target.
    fn object_id(&self) -> Vec<u8>;

    /// Returns the id of the object's adapter, unique within the server.
    fn adapter_id(&self) -> Vec<u8>;

    /// Returns the names from the root adapter to the object's adapter.
    fn adapter_name(&self) -> Vec<String>;

    /// Returns the repository id of the object's most derived interface.
    fn most_derived_interface(&self) -> String;

    /// Returns whether the target object implements the interface with this repository id.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Returns the policy of this type that the object's adapter has.
    fn policy(&self, policy_type: u32) -> Option<Policy>;

    /// Called when the request is over. An adapter may keep the memory for a later request.
    fn release(self: Box<Self>) {}
}
