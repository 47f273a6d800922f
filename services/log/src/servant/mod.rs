//! Servants: factories, logs and iterators.

mod attributes;
mod delegation;
mod event_factory;
mod event_log;
mod factory;
mod iterator;
mod log;
mod notify_factory;
mod notify_log;
mod records;
mod thresholds;

pub(crate) use event_factory::{Announcements, EVENT_FACTORY};
pub(crate) use event_log::serve as serve_event_log;
pub(crate) use factory::{FACTORY, Factory};
pub(crate) use log::{Basic, ServedLog};
pub(crate) use notify_factory::{NOTIFY_FACTORY, Notices};
pub(crate) use notify_log::serve as serve_notify_log;
