//! Tests of the link inside one process.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_link::Address;
use punctual_link::inproc::{Inproc, NAME};
use punctual_link_conformance::conformance;

conformance!(stream: Inproc::new(), Address::new(NAME, "suite"));

mod with_latency {
    use super::*;
    use std::time::Duration;

    fn slow() -> Inproc {
        let link = Inproc::new();
        link.set_latency(Duration::from_millis(1));
        link
    }

    conformance!(stream: slow(), Address::new(NAME, "suite"));
}
