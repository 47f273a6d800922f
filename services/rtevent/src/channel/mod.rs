//! Channel: subscriptions, routes, timers, observers and the control of peers together.
//!
//! ```text
//! core       the state of a channel: connecting, pushing, disconnecting
//! handles    handles of consumers and suppliers
//! observers  what consumers want and suppliers offer, told to observers
//! suppliers  connected suppliers
//! snapshot   counts
//! ```

mod core;
mod facade;
mod handles;
mod observers;
mod snapshot;
mod suppliers;

pub use facade::Channel;
pub use handles::{ConsumerHandle, SupplierHandle};
pub use observers::ObserverId;
