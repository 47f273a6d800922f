//! Check whether this process may open a file, without opening it: some devices act as soon as they
//! are opened.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::io;
use std::path::Path;

/// Checks that the process may write to a file, by its effective user and capabilities
/// (`faccessat(2)`). Opening a device may still be refused, as by a control group.
///
/// # Errors
/// The reason why it may not.
pub fn check_writable(file: &Path) -> io::Result<()> {
    Ok(accessat(CWD, file, Access::WRITE_OK, AtFlags::EACCESS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_for_everybody_may_be_written_and_what_is_not_there_may_not() {
        check_writable(Path::new("/dev/null")).unwrap();
        let error = check_writable(Path::new("/dev/not-there")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
