//! What libFuzzer has found, and what it began with, again.

#![allow(clippy::unwrap_used)]

use std::path::Path;

#[test]
fn every_input_of_the_corpus_is_taken() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in punctual_fuzz::TARGETS {
        let mut inputs = 0;
        for entry in std::fs::read_dir(corpus.join(target.name)).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            // Shown when the test fails.
            println!("{}", path.display());
            (target.run)(&input);
            inputs += 1;
        }
        assert!(inputs > 0, "{} has no inputs", target.name);
    }
}

#[test]
fn the_smallest_inputs_are_taken() {
    for target in punctual_fuzz::TARGETS {
        (target.run)(&[]);
        for octet in 0..=255 {
            (target.run)(&[octet]);
            (target.run)(&[octet; 40]);
        }
    }
}
