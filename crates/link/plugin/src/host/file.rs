//! Checks of a file before the dynamic linker sees it.

use crate::Fault;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Length of the part of an ELF file that identifies it: up to the end of `e_machine`.
const HEAD: usize = 20;
/// Value of `e_type` in the ELF header of a shared object.
const SHARED_OBJECT: u16 = 3;
/// `e_machine` of this machine, where this crate knows it.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else if cfg!(target_arch = "s390x") {
    Some(22)
} else {
    None
};

/// Returns the file's full path, after checking that it is a shared library of this machine.
///
/// A full path keeps the dynamic linker from searching its folders for another file of the name.
pub(super) fn shared_library(path: &Path) -> Result<PathBuf, Fault> {
    let full = path.canonicalize().map_err(unreadable)?;
    if !full.is_file() {
        return Err(Fault::NotALibrary("it is not a regular file"));
    }
    let mut head = Vec::with_capacity(HEAD);
    File::open(&full)
        .and_then(|file| file.take(HEAD as u64).read_to_end(&mut head))
        .map_err(unreadable)?;
    match misfit(&head) {
        None => Ok(full),
        Some(what) => Err(Fault::NotALibrary(what)),
    }
}

fn unreadable(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound => Fault::NotFound,
        _ => Fault::Unreadable(error),
    }
}

fn misfit(head: &[u8]) -> Option<&'static str> {
    let Ok(head) = <&[u8; HEAD]>::try_from(head) else {
        return Some("it is too short to be one");
    };
    let half = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
    let (class, order) = (head[4], head[5]);
    if !head.starts_with(b"\x7fELF") {
        Some("it is not an ELF file")
    } else if class
        != if cfg!(target_pointer_width = "64") {
            2
        } else {
            1
        }
    {
        Some("its addresses have another width")
    } else if order != if cfg!(target_endian = "little") { 1 } else { 2 } {
        Some("it is of the other byte order")
    } else if half(16) != SHARED_OBJECT {
        Some("it is an ELF file of another type")
    } else if MACHINE.is_some_and(|machine| machine != half(18)) {
        Some("it is for another processor")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_of_this_machine() {
        let mut head = std::fs::read("/proc/self/exe").unwrap();
        head.truncate(HEAD);
        // Whether it is position-independent, and so a shared object, is the linker's default.
        assert!([None, Some("it is an ELF file of another type")].contains(&misfit(&head)));
        head[18] ^= 0xff;
        head[16..18].copy_from_slice(&SHARED_OBJECT.to_ne_bytes());
        assert_eq!(misfit(&head), Some("it is for another processor"));
        head[5] ^= 3;
        assert_eq!(misfit(&head), Some("it is of the other byte order"));
    }

    #[test]
    fn what_is_no_elf_file_is_told_from_what_is_cut_short() {
        assert_eq!(misfit(b"\x7fELF"), Some("it is too short to be one"));
        assert_eq!(misfit(&[b'#'; HEAD]), Some("it is not an ELF file"));
    }
}
