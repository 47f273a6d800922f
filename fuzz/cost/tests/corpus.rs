//! Test that the memory allocated by fuzz targets is bounded by a constant and a multiple of the
//! input's length, including the targets' own checks: each input is written and read once more, and
//! compared.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cost::{BESIDE, TIMES, shape};
use punctual_heap::bytes_of;
use std::path::Path;

/// Allowed bytes per byte of input for texts beginning with `corbaloc:`. These come from
/// configuration, not from peers, and become references that are written and read in each byte
/// order: an address of a few characters becomes a profile with its own copy of the object key.
const CORBALOC: usize = 256;

/// Targets to try. Left out are targets that allocate memory for other purposes, such as keys and
/// certificates, rings and pools, or a library's buffers, and `any`, which asks types for default
/// values of up to a million elements.
const TARGETS: [&str; 11] = [
    "cdr",
    "giop",
    "ior",
    "values",
    "server",
    "client",
    "diop",
    "miop",
    "names",
    "datagrams",
    "etcl",
];

#[test]
fn what_targets_allocate_is_in_proportion_to_the_inputs_of_their_corpus() {
    for name in TARGETS {
        let target = punctual_fuzz::target(name).unwrap();
        assert_proportional(name, target.run);
    }
}

#[test]
fn what_types_and_anys_allocate_is_in_proportion_to_the_inputs_of_the_corpus() {
    for (decoder, name) in [
        ("TypeCode", "labels of a union"),
        ("Any", "Anys in one another"),
        ("Any, sent on", "Anys in one another"),
    ] {
        let read = shape(decoder, name).unwrap().read;
        assert_proportional("any", |input| {
            // The first octet selects how the target reads the rest.
            let _ = read(input.get(1..).unwrap_or_default());
        });
    }
}

fn assert_proportional(target: &str, run: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let inputs = std::fs::read_dir(corpus.join(target)).unwrap();
    let inputs: Vec<_> = inputs.map(|entry| entry.unwrap().path()).collect();
    assert!(!inputs.is_empty(), "{target} has no inputs");
    let mut dear = Vec::new();
    for path in inputs {
        let input = std::fs::read(&path).unwrap();
        if has_onlookers(target, &input) {
            continue;
        }
        // State that is made once for the process is not part of an input's cost.
        run(&input);
        let allocated = bytes_of(|| run(&input)).total;
        let allowed = times(target, &input) * input.len() + BESIDE;
        if allocated > allowed {
            dear.push(format!("{}: {allocated} of {allowed}", path.display()));
        }
    }
    assert!(dear.is_empty(), "{target}: {dear:#?}");
}

/// Returns whether the target does additional work for an input that costs more than reading it:
/// interceptors that read all request data, timelines, or a bridge to a server in this process; for
/// names, lookups and the conversion of references, or a bridge for each.
fn has_onlookers(target: &str, input: &[u8]) -> bool {
    let how = input.first().copied().unwrap_or_default();
    match target {
        "server" => how & 0x48 != 0,
        "client" => how & 0x20 != 0,
        "names" => how % 3 == 0 || (190..200).contains(&how),
        _ => false,
    }
}

/// Returns the number of bytes that may be allocated for each byte of an input.
fn times(target: &str, input: &[u8]) -> usize {
    let is_configuration = input
        .get(1..)
        .is_some_and(|text| text.starts_with(b"corbaloc:"));
    match target {
        // It is compiled, shown, and compiled again, in which it is longer.
        "etcl" => 1024,
        "values" => shape("valuetypes", "values without state").unwrap().times,
        _ if is_configuration => CORBALOC,
        _ => TIMES,
    }
}
