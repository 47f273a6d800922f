//! Files of what ran: measured times, as `-ORBRecord` writes them, and time lines.

use crate::fail;
use punctual_scheduling::measured::{Measurements, Observed};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

/// Maximum size of a file, in bytes: the events of 64 threads take less.
const MOST: u64 = 1 << 30;

const ON_FILES: &str =
    "a program writes one with -ORBRecord FILE or -ORBTimeline FILE, when its ORB has shut down";

/// Reads a file of measured times or a time line, or prints what is wrong in it.
pub(super) fn read_observed(file: &Path) -> Result<Observed, ExitCode> {
    let shown = file.display();
    let input: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => {
            let opened = File::open(file);
            Box::new(opened.map_err(|error| fail(format!("{shown}: {error}"), Some(ON_FILES)))?)
        }
    };
    let mut input = BufReader::new(input.take(MOST));
    let observed = serde_json::from_reader(&mut input).map_err(|error| {
        let message = match input.get_ref().limit() {
            0 => format!("{shown} is longer than {} MiB", MOST >> 20),
            _ => format!("{shown} has no measured times and no time line of requests: {error}"),
        };
        fail(message, Some(ON_FILES))
    })?;
    match &observed {
        Observed::Measured(measured) if measured.version != 1 => Err(fail(
            format!(
                "{shown} has version {} of measured times, and this command reads version 1",
                measured.version
            ),
            Some("use the `punctual` of the version that the program was built with"),
        )),
        _ => Ok(observed),
    }
}

/// Reads a file of measured times, or prints what is wrong in it.
pub(super) fn read_measured(file: &Path) -> Result<Measurements, ExitCode> {
    match read_observed(file)? {
        Observed::Measured(measured) => Ok(measured),
        Observed::Timeline(_) => Err(fail(
            format!(
                "{} is a time line, which has no execution times",
                file.display()
            ),
            Some("measure them with -ORBRecord FILE; `punctual schedule compare` reads time lines"),
        )),
    }
}
