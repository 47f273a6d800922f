//! The channel that a command uses.

use crate::call::{self, Problem};
use punctual::{ObjectRef, Poa, RootPoa};
use punctual_rtevent::{Dependency, Header, codes};
use punctual_rtevent_service::Form;
use std::path::PathBuf;

const ON_CHANNELS: &str = "CHANNEL is a real-time event channel: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file \
                           that holds one; `punctual events serve` starts one";

/// The channel, and the form of its events.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// The channel: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    channel: String,
    /// Fields that the channel's events are without: `timestamps`, `octets` or `any`.
    #[arg(
        long,
        value_name = "FIELDS",
        default_value = "",
        hide_default_value = true
    )]
    without: Form,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Types and sources of events.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    /// Types of events, with commas between; by default all.
    #[arg(long = "type", value_name = "TYPES", value_delimiter = ',')]
    types: Vec<i32>,
    /// Source of events; by default all.
    #[arg(
        long,
        value_name = "SOURCE",
        default_value_t = 0,
        hide_default_value = true
    )]
    source: i32,
}

/// Channel that is used through an ORB.
pub(super) struct Channel {
    pub(super) poa: Poa,
    pub(super) object: ObjectRef,
    /// Reference as text.
    pub(super) reference: String,
    pub(super) form: Form,
}

impl Channel {
    /// Makes the ORB, at which channels can call back.
    pub(super) fn new(common: &Common, orb_options: &[String]) -> Result<Self, Problem> {
        let mut all: Vec<_> = ["-ORBListenEndpoints", "iiop://:0", "-ORBCallTimeout", "5s"]
            .map(str::to_owned)
            .into();
        all.extend_from_slice(orb_options);
        let orb = call::orb(common.config.as_deref(), &all)?;
        let object = call::object_of(&orb, &common.channel);
        let object = object.map_err(|message| Problem::usage(message, ON_CHANNELS))?;
        let system = |exception| Problem::System(exception, Some(ON_CHANNELS.to_owned()));
        let reference = orb.object_to_string(&object).map_err(system)?;
        let poa = orb.root_poa().map_err(system)?;
        poa.manager()
            .activate()
            .map_err(|error| Problem::usage(error.to_string(), ON_CHANNELS))?;
        Ok(Self {
            poa,
            object,
            reference,
            form: common.without,
        })
    }
}

impl Wanted {
    /// Returns the filter, in prefix order.
    pub(super) fn filter(&self) -> Vec<Dependency> {
        let entry = |kind, source| Dependency {
            header: Header::new(kind, source),
            rt_info: 0,
        };
        if self.types.is_empty() {
            return vec![entry(codes::ANY, self.source)];
        }
        let count = i32::try_from(self.types.len()).unwrap_or(i32::MAX);
        let group = entry(codes::DISJUNCTION, count);
        let types = self.types.iter().map(|kind| entry(*kind, self.source));
        std::iter::once(group).chain(types).collect()
    }
}
