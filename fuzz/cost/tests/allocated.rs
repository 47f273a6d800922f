//! No input has more allocated for it than a little and so many times its own length.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cost::{SHAPES, allocated};

#[test]
fn what_is_allocated_is_in_proportion_to_what_came() {
    let mut beyond = Vec::new();
    for shape in SHAPES.iter().flat_map(|some| some.iter()) {
        for octets in [1 << 10, 1 << 14, 1 << 17, 1 << 20] {
            // IDL files are longer than messages' worth of them only by mistake.
            if shape.decoder == "IDL" && octets > 1 << 17 {
                continue;
            }
            let (received, allocated) = allocated(shape, octets);
            if allocated.total > shape.allowed(received) {
                let (decoder, name) = (shape.decoder, shape.name);
                let times = allocated.total / received;
                beyond.push(format!(
                    "{decoder}, {name}: {received} octets, {times} times"
                ));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
