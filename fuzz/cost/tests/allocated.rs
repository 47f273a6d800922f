//! Test that the memory allocated for any input is bounded by a constant and a multiple of its
//! length.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cost::{SHAPES, Shape};

/// Returns the input lengths to try; the upper limit for IDL files is smaller than for messages.
fn lengths(shape: &Shape) -> impl Iterator<Item = usize> {
    let most = if shape.decoder.starts_with("IDL") {
        1 << 17
    } else {
        1 << 20
    };
    [1 << 10, 1 << 14, 1 << 17, 1 << 20]
        .into_iter()
        .filter(move |octets| *octets <= most)
}

/// Stack size of the main thread of a build script, in which IDL is compiled: the unoptimised
/// parser of the generated Rust takes that much for nested modules.
const STACK: usize = 8 << 20;

#[test]
fn what_is_allocated_is_in_proportion_to_what_came() {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(measure_all).unwrap().join().unwrap();
}

fn measure_all() {
    let mut beyond = Vec::new();
    for shape in SHAPES.iter().flat_map(|some| some.iter()) {
        let (decoder, name) = (shape.decoder, shape.name);
        for octets in lengths(shape) {
            let cost = shape.cost(octets);
            let (received, total) = (cost.received, shape.bounded(cost.allocated));
            if total > shape.allowed(received) {
                let times = total / received;
                beyond.push(format!(
                    "{decoder}, {name}: {received} octets, {times} times"
                ));
            }
            // An input that was refused early costs nothing, and its count proves nothing.
            if !shape.end.is(received, &cost.outcome) {
                let (end, outcome) = (shape.end, cost.outcome);
                beyond.push(format!(
                    "{decoder}, {name}: of {received} octets, {outcome:?} instead of {end:?}"
                ));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
