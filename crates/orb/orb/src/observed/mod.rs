//! Observation of upcalls: what [`crate::measurement`] and [`crate::timeline`] share.

mod json_text;
mod name;
mod observer;

pub(crate) use json_text::JsonText;
pub(crate) use name::scoped_name;
pub use observer::Observers;
pub(crate) use observer::{set_recording, set_timeline};
