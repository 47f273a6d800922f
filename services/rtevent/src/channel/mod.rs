//! Channel: subscriptions, routes, timers, observers and the control of peers together.
//!
//! ```text
//! core       the state of a channel: connecting, pushing, disconnecting
//! timed      timers of consumers
//! control    the clock and the threads of questions to peers
//! asking     questions to peers
//! facade     the channel, as its users see it
//! handles    handles of consumers and suppliers
//! nesting    pushes within pushes
//! observers  what consumers want and suppliers offer, for observers
//! suppliers  connected suppliers
//! snapshot   counts
//! ```

mod asking;
mod control;
mod core;
mod facade;
mod handles;
mod nesting;
mod observers;
mod snapshot;
mod suppliers;
mod timed;

pub use facade::Channel;
pub use handles::{ConsumerHandle, SupplierHandle};
pub use observers::ObserverId;
