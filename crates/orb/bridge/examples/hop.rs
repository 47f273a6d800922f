//! Measurement of the cost that a bridge adds to a call: void calls straight to a server and
//! through a bridge, in turns.
//!
//! ```text
//! cargo run --release -p punctual-bridge --example hop -- [NEAR] [FAR] [CALLS]
//! taskset -c 0 cargo run …        on one processor
//! ```
#![allow(clippy::unwrap_used)]

use punctual_bridge::{Bridge, BridgeOptions};
use punctual_orb::{
    DispatchError, Dispatched, ListenEndpoint, Location, ObjectAdapter, ObjectRef, Operation, Orb,
    ServerCall,
};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of rounds. The quickest round of each path counts, as the others were disturbed by other
/// load.
const ROUNDS: usize = 15;

/// Servant that answers every call with an empty result.
struct Silent;

impl ObjectAdapter for Silent {
    fn dispatch(&self, _: &[u8], call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        call.reply(|_| Ok(()))
    }

    fn locate(&self, _: &[u8]) -> Location {
        Location::Here
    }

    fn shut_down(&self) {}

    fn release(&self) {}

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let (near, far) = (next("iiop"), next("uiop"));
    let calls: u32 = next("5000").parse().unwrap();

    let straight = |protocol: &str| {
        let server = listening(protocol);
        server.adapter_or_set(|| Arc::new(Silent));
        seen_from_elsewhere(&server.make_reference("", b"silent").unwrap())
    };
    let (first, second) = (straight(&near), straight(&far));
    let middle = listening(&near);
    let target = middle.string_to_object(&text(&second)).unwrap();
    let bridge = Bridge::new(&middle, &target, &BridgeOptions::default()).unwrap();
    let through = seen_from_elsewhere(&bridge.reference().unwrap());

    let mut best = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        for (best, object) in best.iter_mut().zip([&first, &second, &through]) {
            *best = (*best).min(time(object, calls));
        }
    }
    let [one, other, both] = best.map(|one| one.as_secs_f64() * 1e6);
    println!("{near:>20} straight  {one:8.2} us");
    println!("{far:>20} straight  {other:8.2} us");
    println!("{:>20} bridged   {both:8.2} us", format!("{near} > {far}"));
    let (over_near, hop) = (both - one, other);
    println!(
        "added to {near}: {over_near:.2} us, {:.2} x a hop by {far}",
        over_near / hop
    );
}

/// Returns the mean duration of a call on the object.
fn time(object: &ObjectRef, calls: u32) -> Duration {
    const VOID: Operation = Operation::two_way("void");
    let begin = Instant::now();
    for _ in 0..calls {
        object.invoke(&VOID, |_| Ok(()), |_| Ok(())).unwrap();
    }
    begin.elapsed() / calls
}

fn listening(protocol: &str) -> Orb {
    let place = if protocol.ends_with("iiop") {
        "127.0.0.1:0"
    } else {
        ""
    };
    let orb = Orb::builder().listen(ListenEndpoint::new(protocol, place));
    orb.build().unwrap()
}

fn text(object: &ObjectRef) -> String {
    object.orb().object_to_string(object).unwrap()
}

fn seen_from_elsewhere(object: &ObjectRef) -> ObjectRef {
    let client = Orb::builder().build().unwrap();
    client.string_to_object(&text(object)).unwrap()
}
