//! Store in an etcd cluster, which any number of naming servers share.
//!
//! Each server has all of it in memory and follows a watch. A change is one etcd transaction: its
//! comparisons are the facts that it depends on, so that it has no effect if another server has
//! changed one of them before. Two servers never both bind one name, even if their copies are out
//! of date, as etcd orders the transactions of all servers.
//!
//! A *beat* shows that a server's copy is up to date: it is a key that each server writes at
//! intervals, and that the watch reports back. By then, the watch has reported all older changes of
//! any server. If no beat was reported for [`EtcdOptions::staleness`], the copy counts as out of
//! date.

mod cluster;
mod follow;
mod layout;
mod options;
mod progress;
mod server;
mod transaction;

pub use options::EtcdOptions;
pub use punctual_etcd::{Tls as EtcdTls, User as EtcdUser};
pub use server::EtcdStore;
