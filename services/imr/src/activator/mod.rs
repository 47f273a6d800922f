//! Activators: they start processes of this host, and say when these end.
//!
//! A repository may have one in its own process; others are processes of their own, on any host.

mod command;
mod found;
mod link;
mod processes;
mod servant;
mod service;

pub(crate) use command::unmarked;
pub use command::{BadCommand, split};
pub(crate) use found::START as START_VARIABLE;
pub use processes::{CannotStart, Processes};
pub use service::ActivatorService;
