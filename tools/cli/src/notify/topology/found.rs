//! Channels that a service has.

use crate::call::Problem;
use crate::notify::channel::failed;
use punctual::{Interface, NotNil};
use punctual_notification::cos_notify_channel_admin::EventChannelFactory;
use punctual_notification::punctual_notify::{Channel, Topology};

const ON_SERVICES: &str = "the standard has no operations for what an administrator's clients state; `punctual notify serve` has them";

/// Channel with all that is in it.
pub(super) struct Found {
    pub(super) id: i32,
    pub(super) channel: Channel,
    pub(super) topology: Topology,
}

/// Returns all channels of a service.
///
/// # Errors
/// A call fails; the service is of another implementation.
pub(super) fn all(factory: &EventChannelFactory) -> Result<Vec<Found>, Problem> {
    let ids = factory.get_all_channels().map_err(failed)?;
    let found = ids.into_iter().map(|id| {
        let channel = factory.get_event_channel(id).map_err(failed)?;
        let channel = extended(&channel.not_nil().map_err(failed)?)?;
        let topology = channel.describe().map_err(failed)?;
        Ok(Found {
            id,
            channel,
            topology,
        })
    });
    found.collect()
}

/// Returns a channel with the operations of this service.
///
/// # Errors
/// It is of another implementation.
pub(super) fn extended(channel: &impl Interface) -> Result<Channel, Problem> {
    let object = channel.as_object();
    match object.is_a(Channel::REPOSITORY_ID).map_err(failed)? {
        true => Ok(Channel::from_object(object.clone())),
        false => Err(Problem::usage(
            "the service does not tell what is in its channels",
            ON_SERVICES,
        )),
    }
}
