//! File of the timeline that is being recorded.

use super::chrome::write_recording;
use super::session::recorded;
use std::fs::File;
use std::io;
use std::path::Path;

/// Writes the timeline that is being recorded, as it is so far, to a file, in the form of
/// [`write_recording`]; without one, a timeline without records.
///
/// # Errors
/// Those of writing the file.
pub fn write_file(path: &Path) -> io::Result<()> {
    write_recording(&recorded(), &mut File::create(path)?)
}
