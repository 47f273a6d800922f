//! A store in an etcd cluster, which any number of naming servers share.
//!
//! Each server has all of it in memory and follows a watch. A change is one etcd transaction: what it rests upon as its
//! comparisons, so that it comes to nothing if another server was faster. No two servers ever bind one name, whatever
//! their memories hold, as etcd puts the transactions of all servers in one order.
//!
//! A *beat* shows that memory is up to date: it is a key that each server writes again and again, and that comes back by
//! the watch. Between the two, all older changes of any server have come by. Where no beat has come back for as long as
//! [`EtcdOptions::staleness`], memory counts as old.

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
