//! Quality of service: properties of channels, administrators, proxies and events, without an ORB's help.
//!
//! ```text
//! value        values of properties, from and to Anys
//! property     the properties: names, ranges, and where each may be set
//! settings     properties that are set, and the rules for setting them
//! terms        what the settings mean for queues and delivery
//! of_event     properties in the header of an event
//! admin        administrative properties of a channel
//! ```
//!
//! A channel hands its properties on to the administrators that it makes, and these hand theirs on to their proxies;
//! later changes stay where they are made (formal/04-10-13, 2.5.6).

mod admin;
mod of_event;
mod property;
mod settings;
mod terms;
mod value;

pub(crate) use admin::AdminSettings;
pub(crate) use of_event::EventTerms;
pub(crate) use property::{Abilities, Level};
pub(crate) use settings::Settings;
pub(crate) use terms::{Discard, Order, Terms};
pub(crate) use value::{length, since_1582, units};
