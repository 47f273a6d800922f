//! The cases that each store passes.

use std::sync::Arc;

use punctual_durable::conformance::check;
use punctual_jetstream::JetStreamStore;

use crate::nats::{Nats, cluster_options};

#[test]
fn one_server_passes_the_suite() {
    let Some(nats) = Nats::start() else { return };
    check(&|| Arc::new(nats.store()));
}

#[test]
fn a_cluster_of_three_passes_the_suite() {
    let Some(nodes) = Nats::cluster() else { return };
    check(&|| Arc::new(JetStreamStore::open(cluster_options(&nodes)).unwrap()));
}
