//! The repository: it knows servers, has them started, and leads clients to them.
//!
//! [`state`] says what follows from each event, without calls or a clock. [`engine`] applies events, stores changes and makes
//! the calls. Requests of clients come in by [`unknown`], all others by [`servant`].

mod activators;
mod callers;
mod calls;
mod cluster;
mod draft;
mod ends;
mod engine;
mod failures;
mod links;
mod listing;
mod news;
mod outcome;
mod repository;
mod servant;
mod server;
mod service;
#[cfg(test)]
mod shared_tests;
mod starts;
mod state;
#[cfg(test)]
mod state_tests;
mod storage;
mod together;
mod unknown;
mod waiter;

pub use cluster::EtcdOptions;
pub use service::{LocatorService, OpenError};
