//! Replays the inputs that libFuzzer has found, and the seeds.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Once;
use tracing_subscriber::filter::LevelFilter;

/// Enables the log at every level, without output: formatting a line reads the input, too.
fn log() {
    static LOGGING: Once = Once::new();
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_writer(std::io::sink)
            .init();
    });
}

#[test]
fn every_input_of_the_corpus_is_taken() {
    log();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in punctual_fuzz::TARGETS {
        let inputs = replay(target, &corpus);
        assert!(inputs > 0, "{} has no inputs", target.name);
    }
}

/// Replays the inputs gathered by libFuzzer, if an environment variable asks for them (`cargo xtask
/// fuzz --coverage --gathered`).
#[test]
fn every_input_that_was_gathered_is_taken() {
    log();
    if let Some(gathered) = std::env::var_os("PUNCTUAL_FUZZ_GATHERED") {
        for target in punctual_fuzz::TARGETS {
            replay(target, Path::new(&gathered));
        }
    }
}

/// Runs a target on each input in a folder; returns the number of inputs.
fn replay(target: &punctual_fuzz::Target, folder: &Path) -> usize {
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder.join(target.name))
        .into_iter()
        .flatten()
    {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        // Shown when the test fails.
        println!("{}", path.display());
        (target.run)(&input);
        inputs += 1;
    }
    inputs
}

#[test]
fn the_smallest_inputs_are_taken() {
    log();
    for target in punctual_fuzz::TARGETS {
        (target.run)(&[]);
        for octet in 0..=255 {
            (target.run)(&[octet]);
            (target.run)(&[octet; 40]);
        }
    }
}
