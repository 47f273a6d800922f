//! Channels: connections, routes, observers, questions to peers.

mod allocations;
mod connections;
mod failures;
mod limits;
mod liveness;
mod observers;
mod routes;
mod stress;
