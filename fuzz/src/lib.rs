//! Fuzz targets, one function for each kind of untrusted input. Each must return for any input,
//! using time and memory in proportion to the input's length; and data that it has read must be
//! unchanged when it is written and read once more.
//!
//! libFuzzer finds inputs (`cargo xtask fuzz`); those that it has found are in `corpus/`, and the
//! tests give all of them to these functions again. A program for libFuzzer names the function of
//! its own module, never [`TARGETS`]: code that is not linked in is not counted, and its counters
//! are not scanned after each input.

/// Rust code that the IDL compiler generates from `idl/every.idl`.
#[allow(clippy::borrow_deref_ref)] // Of calls whose callers go on.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/every.rs"));
}

pub mod any;
pub mod cdr;
pub mod client;
pub mod datagrams;
pub mod diop;
pub mod etcl;
pub mod giop;
pub mod idl;
pub mod ior;
pub mod miop;
pub mod mutate;
pub mod names;
pub mod plugin;
pub mod server;
pub mod shm;
pub mod sockets;
pub mod tls;
pub mod values;

mod wire;

use std::path::Path;

/// Fuzz target, with its name and the function that runs it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the target, of its folder in `corpus/`, and of its program for libFuzzer.
    pub name: &'static str,
    /// Function that runs the target on one input.
    ///
    /// Panics if the input breaks a property.
    pub run: fn(&[u8]),
}

/// List of all fuzz targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "cdr",
        run: cdr::run,
    },
    Target {
        name: "giop",
        run: giop::run,
    },
    Target {
        name: "ior",
        run: ior::run,
    },
    Target {
        name: "any",
        run: any::run,
    },
    Target {
        name: "values",
        run: values::run,
    },
    Target {
        name: "idl",
        run: idl::run,
    },
    Target {
        name: "names",
        run: names::run,
    },
    Target {
        name: "server",
        run: server::run,
    },
    Target {
        name: "client",
        run: client::run,
    },
    Target {
        name: "sockets",
        run: sockets::run,
    },
    Target {
        name: "shm",
        run: shm::run,
    },
    Target {
        name: "tls",
        run: tls::run,
    },
    Target {
        name: "diop",
        run: diop::run,
    },
    Target {
        name: "miop",
        run: miop::run,
    },
    Target {
        name: "datagrams",
        run: datagrams::run,
    },
    Target {
        name: "etcl",
        run: etcl::run,
    },
    Target {
        name: "plugin",
        run: plugin::run,
    },
];

/// Returns the fuzz target with the given name, or `None` if there is none.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}

/// Returns the inputs of a target in the corpus.
///
/// Messages of one are put into others: see [`mutate::messages`].
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| std::fs::read(file.path()).ok())
        .collect()
}

/// Splits off the first octet of an input, which selects how the other octets are used.
fn choice(input: &[u8]) -> (u8, &[u8]) {
    input
        .split_first()
        .map_or((0, input), |(first, rest)| (*first, rest))
}
