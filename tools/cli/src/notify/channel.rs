//! Channels of a Notification Service, as commands use them.

use crate::call::{self, Problem};
use crate::shown;
use punctual::{Any, Interface, NotNil, ObjectRef, OperationError, Orb};
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EVENT_RELIABILITY, PERSISTENT, Property,
};
use punctual_notification::cos_notify_channel_admin::{
    ChannelId, EventChannel, EventChannelFactory, EventChannelFactoryGetEventChannelError,
};
use serde_json::json;
use std::path::PathBuf;

pub(super) const ON_FACTORIES: &str = "FACTORY is the EventChannelFactory of a Notification Service: an `IOR:`, `corbaloc:` or \
                                       `corbaname:` text, or a file that holds one; `punctual notify serve` starts one";

const ON_CHANNELS: &str =
    "`punctual notify channels` lists the channels, and `punctual notify create` makes one";

/// The service.
#[derive(Debug, clap::Args)]
pub(super) struct Factory {
    /// The factory of channels: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    factory: String,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The channel.
#[derive(Debug, clap::Args)]
pub(super) struct Channel {
    #[command(flatten)]
    factory: Factory,
    /// Id of the channel; `punctual notify channels` lists them.
    #[arg(long = "channel", value_name = "ID", default_value_t = 0)]
    id: ChannelId,
}

/// A line for each channel has its id, and the numbers of its administrators of consumers and of suppliers.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    factory: Factory,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The channel has the properties that the service gives it, but for those below.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    #[command(flatten)]
    factory: Factory,
    /// Keep the channel and its connections, so that they are there when the service is started again
    /// (ConnectionReliability is Persistent). A service without a store refuses it.
    #[arg(long)]
    persistent: bool,
    /// Keep its events, too, until the consumers have taken them (EventReliability is Persistent).
    #[arg(long)]
    persistent_events: bool,
}

/// Returns the problem of a call that has failed.
pub(super) fn failed<E: OperationError + std::fmt::Display>(error: E) -> Problem {
    match error.system() {
        Some(exception) => Problem::System(exception.clone(), Some(ON_FACTORIES.to_owned())),
        None => Problem::usage(shown::peer(error), ON_FACTORIES),
    }
}

impl Factory {
    fn resolve(&self, orb_options: &[String]) -> Result<EventChannelFactory, Problem> {
        Ok(self.resolve_with_orb(orb_options)?.1)
    }

    pub(super) fn resolve_with_orb(
        &self,
        orb_options: &[String],
    ) -> Result<(Orb, EventChannelFactory), Problem> {
        let mut all: Vec<_> = ["-ORBCallTimeout", "5s"].map(str::to_owned).into();
        all.extend_from_slice(orb_options);
        let orb = call::orb(self.config.as_deref(), &all)?;
        let object: ObjectRef = call::object_of(&orb, &self.factory)
            .map_err(|message| Problem::usage(message, ON_FACTORIES))?;
        Ok((orb, EventChannelFactory::narrow(object).map_err(failed)?))
    }
}

impl Channel {
    pub(super) fn resolve(&self, orb_options: &[String]) -> Result<EventChannel, Problem> {
        Ok(self.resolve_with_orb(orb_options)?.1)
    }

    pub(super) fn resolve_with_orb(
        &self,
        orb_options: &[String],
    ) -> Result<(Orb, EventChannel), Problem> {
        let (orb, factory) = self.factory.resolve_with_orb(orb_options)?;
        let channel = factory.get_event_channel(self.id);
        let channel = channel.map_err(|error| match error {
            EventChannelFactoryGetEventChannelError::ChannelNotFound(_) => Problem::usage(
                format!("the service has no channel {}", self.id),
                ON_CHANNELS,
            ),
            other => failed(other),
        })?;
        Ok((orb, channel.not_nil().map_err(failed)?))
    }
}

pub(super) fn list(options: &List, orb_options: &[String]) -> Result<(), Problem> {
    let factory = options.factory.resolve(orb_options)?;
    for id in factory.get_all_channels().map_err(failed)? {
        let channel = factory.get_event_channel(id).map_err(failed)?;
        let channel = channel.not_nil().map_err(failed)?;
        let consumers = channel.get_all_consumeradmins().map_err(failed)?.len();
        let suppliers = channel.get_all_supplieradmins().map_err(failed)?.len();
        match options.json {
            true => println!(
                "{}",
                json!({ "id": id, "consumer_admins": consumers, "supplier_admins": suppliers })
            ),
            false => println!("{id}: {consumers} of consumers, {suppliers} of suppliers"),
        }
    }
    Ok(())
}

fn persistent(name: &str) -> Property {
    Property {
        name: name.to_owned(),
        value: Any::new(&PERSISTENT).unwrap_or_default(),
    }
}

pub(super) fn create(options: &Create, orb_options: &[String]) -> Result<(), Problem> {
    let factory = options.factory.resolve(orb_options)?;
    let mut quality = Vec::new();
    if options.persistent || options.persistent_events {
        quality.push(persistent(CONNECTION_RELIABILITY));
    }
    if options.persistent_events {
        quality.push(persistent(EVENT_RELIABILITY));
    }
    let (_, id) = factory.create_channel(&quality, &[]).map_err(failed)?;
    println!("{id}");
    Ok(())
}
