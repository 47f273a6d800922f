//! Server program.

use crate::CubitImpl;
use crate::idl::bench::Cubit;
use punctual::{Orb, RootPoa, StopSignals};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for calls in progress to end after a signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves one [`Cubit`] until a client shuts it down or the process is asked to end.
#[derive(Debug, clap::Parser)]
#[command(name = "cubit-server", version, about, after_help = ORB_OPTIONS)]
pub struct Options {
    /// Write the object's reference to this file; without it, print it.
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
}

pub(crate) const ORB_OPTIONS: &str = "Options of the ORB begin with -ORB and may stand anywhere, \
    e.g. -ORBListenEndpoints iiop://127.0.0.1:0 or -ORBTrace giop.";

/// Runs the program with the arguments that the ORB has left.
///
/// # Errors
/// Reasons why it cannot serve.
pub fn run(orb: &Orb, options: &Options) -> Result<(), Box<dyn Error>> {
    let signals = StopSignals::install()?;
    let poa = orb.root_poa()?;
    let cubit: Cubit = poa.activate(CubitImpl::new(orb.clone()))?;
    let reference = orb.object_to_string(&cubit)?;
    poa.manager().activate()?;
    match &options.ior_file {
        Some(path) => write_whole(path, &reference)?,
        None => println!("{reference}"),
    }
    orb.run_until(signals, DRAIN)?;
    Ok(())
}

/// Writes the file atomically: the text is written to a second file, which is then renamed, so that
/// readers see all of it or nothing.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = std::fs::File::create(&beside)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    std::fs::rename(beside, path)
}
