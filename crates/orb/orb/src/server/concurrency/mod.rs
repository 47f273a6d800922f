//! How the threads that serve a connection wait for what it brings: the concurrency strategies, one file each.
//! What is done with what comes is the same for all ([`super::serve`]).

mod blocking;
mod outbox;
mod per_connection;
mod reactor;
mod ready;
mod strategy;
mod turn;

pub(super) use per_connection::PerConnection;
pub(super) use reactor::OnReactor;
pub(super) use strategy::Strategy;
pub(super) use turn::{Turn, Wait};
