//! Channel of a Notification Service, as both programs find it, and failures that pass.

use std::error::Error;

use punctual::{
    Interface, NotNil, OperationError, Orb, SystemException, SystemExceptionKind as Kind,
};
use punctual_notification::cos_notify_channel_admin::{
    ChannelId, EventChannel, EventChannelFactory, EventChannelFactoryGetEventChannelError,
};

/// Returns a channel by the service's factory and its id.
///
/// # Errors
/// The text is no reference, the service does not answer, or has no such channel.
pub fn find(orb: &Orb, factory: &str, id: ChannelId) -> Result<EventChannel, Box<dyn Error>> {
    let object = orb.string_to_object(factory);
    let object = object.map_err(|error| format!("`{factory}` is no reference: {error}"))?;
    let factory = EventChannelFactory::narrow(object);
    let factory = factory.map_err(|error| format!("no Notification Service answers: {error}"))?;
    let channel = factory.get_event_channel(id);
    let channel = channel.map_err(|error| match error {
        EventChannelFactoryGetEventChannelError::ChannelNotFound(_) => {
            format!("the service has no channel {id}: `punctual notify create` makes one")
        }
        other => other.to_string(),
    })?;
    Ok(channel.not_nil()?)
}

/// Returns whether a call has failed as the service is away for now; the same call may succeed later.
pub fn is_away(error: &impl OperationError) -> bool {
    use Kind::{CommFailure, NoResponse, Timeout, Transient};
    let kind = error.system().map(SystemException::kind);
    kind.is_some_and(|kind| [CommFailure, NoResponse, Timeout, Transient].contains(&kind))
}

/// Returns whether a call has failed as the object has ended: the service keeps no connections, or has ended this one.
pub fn is_gone(error: &impl OperationError) -> bool {
    error
        .system()
        .is_some_and(|exception| exception.kind() == Kind::ObjectNotExist)
}
