#![cfg_attr(test, allow(clippy::unwrap_used))]
//! The Portable Object Adapter (CORBA 3.3 part 1, chapter 15).
//!
//! So far the root POA: transient references, system-assigned ids, retained servants. An object key
//! holds the place of its object in the [`active_map`] and that place's generation, so a servant is
//! found in one step whatever their number, and a stale or forged key finds none.

pub mod active_map;
mod key;
mod manager;
#[allow(dead_code, unused_imports)]
mod object_map;
mod poa;
mod servant;
mod upcall;

pub use manager::{AdapterInactive, ManagerState, PoaManager};
pub use poa::{Poa, PoaError, RootPoa};
pub use servant::{Identity, Implements, Servant, Tie, servant_of};
