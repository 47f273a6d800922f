//! Prefaulting of the calling thread's stack, so that no page fault occurs in the middle of a call.

use rustix::mm::{Advice, madvise};
use std::io;
use std::mem::MaybeUninit;

/// Brings the rest of the calling thread's stack into memory, from the stack pointer down to its
/// end.
///
/// # Errors
/// `InvalidInput` on a kernel before 5.14 (`MADV_POPULATE_WRITE`); `OutOfMemory` when there is not
/// that much, and for the process's main thread, whose stack the kernel maps as it is used.
pub fn prefault_own() -> io::Result<()> {
    let end = lowest_address()?;
    let here = MaybeUninit::<u8>::uninit();
    // The part above has been used already.
    let free = here.as_ptr().addr().checked_sub(end.addr());
    let free = free.ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: the range is part of this thread's stack, which stays mapped while it runs, and
    // bringing it into memory changes no content (`madvise(2)`, `MADV_POPULATE_WRITE`).
    Ok(unsafe { madvise(end.cast(), free, Advice::LinuxPopulateWrite) }?)
}

/// Returns the end of the calling thread's stack, above its guard page: stacks grow downwards.
fn lowest_address() -> io::Result<*mut u8> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the pointer is valid for writes, and `pthread_self` names the calling thread, which runs.
    let got = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    if got != 0 {
        return Err(io::Error::from_raw_os_error(got));
    }
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: `attributes` was initialised above, and both pointers are valid for writes.
    let got =
        unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size) };
    // SAFETY: `attributes` was initialised above and is not used any more.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if got != 0 {
        return Err(io::Error::from_raw_os_error(got));
    }
    Ok(lowest.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the calling thread's page faults that needed no disk.
    fn faults() -> u64 {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, rest) = line.rsplit_once(')').unwrap();
        rest.split_ascii_whitespace()
            .nth(7)
            .unwrap()
            .parse()
            .unwrap()
    }

    /// Writes to half a mebibyte of the calling thread's stack.
    #[inline(never)]
    fn use_some() {
        let mut used = [1u8; 512 << 10];
        std::hint::black_box(&mut used);
    }

    #[test]
    fn a_stack_that_was_brought_into_memory_faults_no_more() {
        // Of different sizes, so that neither reuses the memory of a thread that has ended.
        let with_stack = |size: usize, prefault: bool| {
            let thread = std::thread::Builder::new().stack_size(size);
            let faults = thread.spawn(move || {
                if prefault {
                    prefault_own().unwrap();
                }
                // Reading the file once maps the pages that it needs.
                faults();
                let before = faults();
                use_some();
                faults() - before
            });
            faults.unwrap().join().unwrap()
        };
        let (without, with) = (with_stack(16 << 20, false), with_stack(32 << 20, true));
        if without < 64 {
            return eprintln!("skipped: pages are large here ({without} faults)");
        }
        assert!(with < without / 4, "{with} faults instead of {without}");
    }
}
