//! Interface between a channel and the store of its events.

mod clock;
mod error;
mod event;
mod name;
mod settings;
mod store;

pub use clock::Moment;
pub use error::{DurableError, Limit};
pub use event::{Delivery, EventId, NewEvent, Position};
pub use name::{InvalidName, Name};
pub use settings::{LogSettings, Quota, WhenFull};
pub use store::{Appended, EventLog, EventStore, LogStatus, Most, Reader, Wake};
