//! References to objects of clients as text, as a store keeps them.

use punctual::protocol::endpoints_of;
use punctual::{Interface, ObjectRef, Orb};

use crate::refusal::Refusal;

/// Returns the reference to an object as text.
///
/// # Errors
/// It has none.
pub(crate) fn to_text(object: &impl Interface) -> Result<String, Refusal> {
    let object = object.as_object();
    let text = object.orb().object_to_string(object);
    text.map_err(|exception| Refusal::NoResources(exception.to_string()))
}

/// Returns the first endpoint of a reference, as an address.
pub(crate) fn endpoint(object: &ObjectRef) -> Option<String> {
    let endpoints = endpoints_of(object.orb(), object.ior());
    let first = endpoints.first()?;
    Some(format!("{}://{}", first.protocol, first.address.place()))
}

/// Returns the object that a text refers to.
///
/// # Errors
/// It is no reference.
pub(crate) fn of_text(orb: &Orb, text: &str) -> Result<ObjectRef, Refusal> {
    let object = orb.string_to_object(text);
    object.map_err(|exception| Refusal::NoResources(exception.to_string()))
}
