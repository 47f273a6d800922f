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

/// Failure of a call to a proxy or to another object of the service, and what it says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The service is away for now; the same call may succeed later.
    Away,
    /// The connection has ended: the service keeps none, or has ended this one.
    Ended,
    /// The service is full for now, or its store is; the same call may succeed later.
    Full,
    /// The service has refused this call. The connection is still there.
    Refused,
}

impl Failure {
    /// Returns what the error of a call says. The only user exception of the calls that proxies take is `Disconnected`.
    #[must_use]
    pub fn of(error: &impl OperationError) -> Self {
        match error.system().map(SystemException::kind) {
            None | Some(Kind::ObjectNotExist) => Self::Ended,
            Some(Kind::CommFailure | Kind::NoResponse | Kind::Timeout | Kind::Transient) => {
                Self::Away
            }
            Some(Kind::PersistStore | Kind::ImpLimit) => Self::Full,
            Some(_) => Self::Refused,
        }
    }
}
