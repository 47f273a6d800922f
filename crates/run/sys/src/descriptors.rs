//! Limit of the process's open descriptors (`RLIMIT_NOFILE`).

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Returns the number of descriptors that may be open at once: the soft limit.
#[must_use]
pub fn limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Raises the soft limit to the hard one and returns it. For programs that do not use `select`,
/// which handles only descriptors below 1,024.
///
/// # Errors
/// The kernel's error.
pub fn raise_limit() -> io::Result<usize> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    )?;
    Ok(limit())
}

/// Returns whether an error says that the process, or the machine, has no descriptors left.
#[must_use]
pub fn ran_out(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE]
        .into_iter()
        .any(|one| code == Some(one.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_one() {
        let hard = getrlimit(Resource::Nofile).maximum;
        let raised = raise_limit().unwrap();
        assert_eq!(raised, limit());
        assert_eq!(
            hard.map_or(usize::MAX, |hard| usize::try_from(hard).unwrap()),
            raised
        );
    }

    #[test]
    fn running_out_is_told_from_other_errors() {
        for (errno, is_that) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::ACCESS, false),
        ] {
            assert_eq!(ran_out(&errno.into()), is_that);
        }
    }
}
