//! Memory of a proxy with its connection, and of an event that waits in a queue: bytes of the heap that are in use.
//!
//! `cargo bench -p punctual-notification --bench memory` prints a line for each. Clients and service are in one process; the clients drop
//! their references.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use punctual::Any;
use punctual_heap::in_use;
use punctual_notification::Limits;
use support::{Counter, Served, alarm};

/// Number of proxies of each kind, and of events.
const NUMBER: usize = 5_000;

/// Returns the bytes that each of [`NUMBER`] things takes, after as many that grow what grows in steps.
fn of_each(mut add: impl FnMut()) -> f64 {
    (0..NUMBER).for_each(|_| add());
    let before = in_use();
    (0..NUMBER).for_each(|_| add());
    let bytes = in_use() - before;
    // Exact: both are far below 2^52.
    #[allow(clippy::cast_precision_loss)]
    let each = bytes as f64 / NUMBER as f64;
    each
}

fn main() {
    let served = Served::new(Limits {
        proxies: 100_000,
        ..Limits::default()
    });
    let consumer = served.structured(&Counter::default());
    let line = |what: &str, bytes: f64| println!("{what}: {bytes:.0} bytes");
    let supplier = of_each(|| drop(served.pushes()));
    line("proxy of a supplier that pushes", supplier);
    let pushed = of_each(|| served.connect(&consumer, None));
    line("proxy of a consumer that is pushed to", pushed);
    let pulls = of_each(|| {
        served
            .pulls()
            .connect_structured_pull_consumer(None)
            .unwrap()
    });
    line("proxy of a consumer that pulls", pulls);
    served.end();

    let served = Served::new(Limits::default());
    served
        .pulls()
        .connect_structured_pull_consumer(None)
        .unwrap();
    let pushes = served.pushes();
    let event = alarm(1);
    let encoded = Any::new(&event).unwrap().encoding().len();
    let queued = of_each(|| pushes.push_structured_event(&event).unwrap());
    line(&format!("alarm of {encoded} bytes in a queue"), queued);
    served.end();
}
