//! Client program.

use crate::calls::{Timing, kinds, pings_of, verify};
use crate::idl::bench::Cubit;
use punctual::{Interface, Orb};
use std::error::Error;

/// Calls a Cubit: makes each kind of call, verifies every answer, and shows the times.
#[derive(Debug, clap::Parser)]
#[command(name = "cubit-client", version, about, after_help = crate::server::ORB_OPTIONS)]
pub struct Options {
    /// The object: an IOR:, a corbaloc: or a file:// with one of these in it.
    #[arg(long, value_name = "REFERENCE")]
    ior: String,
    /// Calls of each kind.
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
    /// Shut the server down at the end.
    #[arg(long)]
    shutdown: bool,
}

/// Runs the program with the arguments that the ORB has left.
///
/// # Errors
/// A call could not be made, or its answer was wrong.
pub fn run(orb: &Orb, options: &Options) -> Result<(), Box<dyn Error>> {
    let timings = call_all(orb, options)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&timings)?);
    } else {
        print!("{}", table(&timings));
    }
    Ok(())
}

fn call_all(orb: &Orb, options: &Options) -> Result<Vec<Timing>, Box<dyn Error>> {
    let cubit = Cubit::narrow(orb.string_to_object(&options.ior)?)?;
    let pings_before = cubit.pings()?;
    let mut timings = Vec::new();
    for kind in kinds(&cubit) {
        let timing = kind.time(options.calls);
        timings.push(timing.map_err(|problem| format!("{}: {problem}", kind.name))?);
    }
    verify(&cubit, pings_before, pings_of(options.calls))?;
    if options.shutdown {
        cubit.shutdown()?;
    }
    Ok(timings)
}

/// Formats the timings as a table for people.
#[must_use]
pub fn table(timings: &[Timing]) -> String {
    let mut text = format!(
        "{:<18} {:>8} {:>10} {:>10} {:>10}\n",
        "call", "calls", "mean µs", "p50 µs", "p99 µs"
    );
    for timing in timings {
        text.push_str(&format!(
            "{:<18} {:>8} {:>10.1} {:>10.1} {:>10.1}\n",
            timing.name, timing.calls, timing.mean_us, timing.p50_us, timing.p99_us
        ));
    }
    text
}
