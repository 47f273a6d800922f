//! Chores of the workspace, run as `cargo xtask NAME`.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod api;
mod built;
mod chaos;
mod clocks;
mod complexity;
mod corpus;
mod cross;
mod errors;
mod features;
mod figures;
mod first_minutes;
mod footprint;
mod fuzz;
mod guide;
mod interop;
mod layers;
mod machine;
mod minimum_rust;
mod modules;
mod network;
mod package;
mod prose;
mod published;
mod release;
mod release_notes;
mod run;
mod soak;
mod sources;
mod tables;
mod test;
mod threads;
mod unsafe_code;
mod virtual_machine;
mod vsock;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Chores of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Options {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Refuse a dependency that points against the layers (ARCHITECTURE.md), threads that are not
    /// started by punctual-exec, reads of the time-of-day clock, public errors whose `Debug` text is not
    /// their `Display` text, and crates that cannot be published.
    Layers,
    /// Run the interoperability matrix against a peer.
    Interop(interop::Options),
    /// Run the wire crates' tests on other machines under qemu-user.
    Cross(cross::Options),
    /// Run experiments with the network in a virtual machine, whose kernel has what that of this machine may lack.
    Network(network::Options),
    /// Run the tests of the link `vsock` in a virtual machine, and calls between one and its host.
    Vsock(vsock::Options),
    /// Check that the pages with a table of operations name every operation, and existing tests.
    Tables,
    /// Write the guide's tables of options, keys and minor codes, from the code.
    Guide(guide::Options),
    /// Check every IDL file below a folder with the IDL compiler.
    IdlCorpus(corpus::Options),
    /// Print the size and the structure of the code, by area.
    Figures(figures::Options),
    /// Print the cyclomatic complexity of the functions, by folder.
    Complexity(complexity::Options),
    /// Check that comments are in plain English, or draw some of them for a reader.
    Prose(prose::Options),
    /// Run the tests that `cargo test` leaves out, or the suite on a busy machine.
    Test(test::Options),
    /// Run libFuzzer on each target.
    Fuzz(fuzz::Options),
    /// Run load and faults of every kind at once, with memory, threads and descriptors watched.
    Soak(soak::Options),
    /// Kill, stop and cut off servers of object groups on three hosts at random, and check what clients were answered.
    Chaos(chaos::Options),
    /// Measure a newcomer's waiting times: the README's commands on a clone, and a crate by
    /// `punctual new`.
    FirstMinutes(first_minutes::Options),
    /// Measure the smallest client and server by sets of Cargo features: size, memory, time until the first reply.
    Footprint(footprint::Options),
    /// Check that the facade compiles with chosen sets of its Cargo features, and that options of absent ones are refused by name.
    Features(features::Options),
    /// Compile what users build with the oldest Rust that is promised.
    MinimumRust(minimum_rust::Options),
    /// Make a Debian package of the command, with its manual pages and completions.
    Package(package::Options),
    /// Compare the public interface of each published crate with its snapshot in `api/`, or update the snapshot.
    Api(api::Options),
    /// Check that a version may be released: its number, changelog, public interface and packages.
    Release(release::Options),
    /// Print what the changelog says of a version.
    ReleaseNotes(release_notes::Options),
}

fn main() -> ExitCode {
    let done = match Options::parse().chore {
        Chore::Layers => layers::check()
            .and_then(|()| modules::check())
            .and_then(|()| threads::check())
            .and_then(|()| clocks::check())
            .and_then(|()| errors::check())
            .and_then(|()| unsafe_code::check())
            .and_then(|()| published::check()),
        Chore::Interop(options) => interop::run(&options),
        Chore::Cross(options) => cross::run(&options),
        Chore::Network(options) => network::run(&options),
        Chore::Vsock(options) => vsock::run(&options),
        Chore::Tables => tables::check(),
        Chore::Guide(options) => guide::run(&options),
        Chore::Features(options) => features::run(&options),
        Chore::Figures(options) => figures::run(&options),
        Chore::Complexity(options) => complexity::run(&options),
        Chore::Prose(options) => prose::run(&options),
        Chore::Test(options) => test::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::Soak(options) => soak::run(&options),
        Chore::Chaos(options) => chaos::run(&options),
        Chore::IdlCorpus(options) => corpus::run(&options),
        Chore::FirstMinutes(options) => first_minutes::run(&options),
        Chore::Footprint(options) => footprint::run(&options),
        Chore::MinimumRust(options) => minimum_rust::run(&options),
        Chore::Package(options) => package::run(&options),
        Chore::Api(options) => api::run(&options),
        Chore::Release(options) => release::run(&options),
        Chore::ReleaseNotes(options) => release_notes::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
