//! Files of measured times, as `-ORBRecord` writes them.

use super::source::text;
use crate::fail;
use punctual_scheduling::measured::Measurements;
use std::path::Path;
use std::process::ExitCode;

const ON_FILES: &str = "a program writes one with -ORBRecord FILE, when its ORB has shut down";

/// Reads a file of measured times, or prints what is wrong in it.
pub(super) fn read_measured(file: &Path) -> Result<Measurements, ExitCode> {
    let shown = file.display();
    let text = text(file).map_err(|error| fail(format!("{shown}: {error}"), Some(ON_FILES)))?;
    let measured: Measurements = serde_json::from_str(&text).map_err(|error| {
        fail(
            format!("{shown} has no measured times: {error}"),
            Some(ON_FILES),
        )
    })?;
    match measured.version {
        1 => Ok(measured),
        version => Err(fail(
            format!(
                "{shown} has version {version} of measured times, and this command reads version 1"
            ),
            Some("use the `punctual` of the version that the program was built with"),
        )),
    }
}
