//! The Interface Repository (CORBA 3.3 part 1, chapter 14): IDL declarations for queries at run
//! time.
//!
//! An [`InterfaceRepository`] keeps definitions in memory and, if it was opened on a file, in an
//! embedded database. It takes them from IDL ([`InterfaceRepository::load`]) or from clients, and
//! [serves](InterfaceRepository::serve) them by the standard's interface, so that other ORBs'
//! clients can browse them.
//!
//! No object is ever activated: for each kind of definition there is an object adapter with one
//! default servant, and an object's id is the number of its definition. A million definitions cost
//! no more memory than their records.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod definitions;
mod hosted;
mod load;
mod metrics;
mod refusal;
mod repository;
mod servant;
mod settings;
mod storage;
mod types;

pub use hosted::RepositoryServer;
pub use refusal::{Refusal, ServeError};
pub use repository::{InterfaceRepository, OpenError, Quota};
pub use settings::{LISTEN, open, open_file, settings};

include!(concat!(env!("OUT_DIR"), "/ir.rs"));

/// Rust code generated from the IDL for the stored form of definitions.
#[allow(clippy::module_inception)]
mod kept {
    include!(concat!(env!("OUT_DIR"), "/store.rs"));
}

use kept::store;
