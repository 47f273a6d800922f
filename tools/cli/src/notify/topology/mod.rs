//! `punctual notify export` and `import`: channels with all that clients have stated in them, as TOML.
//!
//! ```toml
//! [channel.alarms.quality]
//! ConnectionReliability = "Persistent"
//!
//! [channel.alarms.consumers.operators]
//! operator = "or"
//! types = [{ domain = "Telecom", type = "NT_ALARM" }]
//!
//! [[channel.alarms.consumers.operators.filters]]
//! grammar = "EXTENDED_TCL"
//! constraints = [{ text = "$severity > 3" }]
//! ```
//! The administrator `default` is the one that each channel has. A channel without a name is called `channel-ID`, and an
//! administrator `admin-ID`.

mod check;
mod connect;
mod export;
mod file;
mod found;
mod import;
mod source;
mod stated;
mod values;

pub(super) use export::{Export, run as export};
pub(super) use import::{Import, run as import};

/// Side of a channel that an administrator and its proxies are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Consumers,
    Suppliers,
}

impl Side {
    /// Returns the key of the side's administrators.
    const fn key(self) -> &'static str {
        match self {
            Self::Consumers => "consumers",
            Self::Suppliers => "suppliers",
        }
    }
}

/// Name of the default administrators.
const DEFAULT: &str = "default";

/// Returns the name of a channel in a file.
fn channel_name(name: &str, id: i32) -> String {
    match name.is_empty() {
        true => format!("channel-{id}"),
        false => name.to_owned(),
    }
}

/// Returns the name of an administrator in a file.
fn admin_name(name: &str, id: i32) -> String {
    match (name.is_empty(), id) {
        (true, 0) => DEFAULT.to_owned(),
        (true, _) => format!("admin-{id}"),
        _ => name.to_owned(),
    }
}
