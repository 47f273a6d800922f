//! Files of models.

use crate::error::ScheduleError;
use punctual_scheduling::model::LONGEST_FILE;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a model's text from a file.
///
/// # Errors
/// [`ScheduleError::Unreadable`], also of a text that is not UTF-8; [`ScheduleError::TooLong`].
pub(super) fn text(file: &Path) -> Result<String, ScheduleError> {
    let (text, size) = read(file).map_err(|error| ScheduleError::Unreadable {
        file: file.to_owned(),
        error,
    })?;
    match size > LONGEST_FILE {
        true => Err(ScheduleError::TooLong {
            file: file.to_owned(),
            size,
            limit: LONGEST_FILE,
        }),
        false => Ok(text),
    }
}

/// Returns the text of a file and its size in bytes; nothing of a file that is known to be too long. Of a pipe or a
/// device, no more is read than shows that it is.
fn read(file: &Path) -> io::Result<(String, u64)> {
    let file = File::open(file)?;
    let size = file.metadata()?.len();
    if size > LONGEST_FILE {
        return Ok((String::new(), size));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    let size = size.max(bytes.len() as u64);
    if size > LONGEST_FILE {
        return Ok((String::new(), size));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((text, size))
}
