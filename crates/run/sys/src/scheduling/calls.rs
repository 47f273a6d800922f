//! System calls behind [`super`], which rustix lacks.
//!
//! They are made by number: musl's own functions of these names refuse, as they apply to processes.

use std::io;

/// The kernel's `struct sched_attr` in its first version, of 48 bytes (`sched_setattr(2)`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Attributes {
    pub(super) size: u32,
    pub(super) policy: u32,
    pub(super) flags: u64,
    pub(super) nice: i32,
    pub(super) priority: u32,
    pub(super) runtime: u64,
    pub(super) deadline: u64,
    pub(super) period: u64,
}

const SIZE: u32 = size_of::<Attributes>() as u32;
const _: () = assert!(SIZE == 48);

/// Returns the number of the scheduling policy of a thread.
pub(super) fn policy(thread: i32) -> io::Result<i32> {
    // SAFETY: it takes a number and touches no memory of ours.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
    // Policies are small; a number that does not fit is not a policy.
    done(policy).map(|policy| i32::try_from(policy).unwrap_or(i32::MAX))
}

pub(super) fn set_policy(thread: i32, policy: i32, priority: i32) -> io::Result<()> {
    // Not the C library's type, which has more fields in musl. The kernel's has only this field.
    let parameters: [i32; 1] = [priority];
    // SAFETY: the kernel reads one `int` behind the pointer, which lives through the call.
    let set = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            thread,
            policy,
            parameters.as_ptr(),
        )
    };
    done(set).map(drop)
}

pub(super) fn attributes(thread: i32) -> io::Result<Attributes> {
    let mut attributes = Attributes::default();
    // SAFETY: the kernel writes at most `SIZE` bytes behind the pointer, which is how long
    // `attributes` is; any bytes are valid in it.
    let got = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            thread,
            &raw mut attributes,
            SIZE,
            NO_FLAGS,
        )
    };
    done(got).map(|_| attributes)
}

pub(super) fn set_attributes(thread: i32, attributes: &Attributes) -> io::Result<()> {
    let mut attributes = Attributes {
        size: SIZE,
        ..*attributes
    };
    // SAFETY: the kernel reads as many bytes behind the pointer as `size` says, which all are
    // there; where it knows of fewer, it writes their number into `size`.
    let set = unsafe {
        libc::syscall(
            libc::SYS_sched_setattr,
            thread,
            &raw mut attributes,
            NO_FLAGS,
        )
    };
    done(set).map(drop)
}

pub(super) fn min_priority(policy: i32) -> io::Result<i32> {
    // SAFETY: it takes a number and touches no memory.
    let found = unsafe { libc::sched_get_priority_min(policy) };
    done(found.into()).map(|_| found)
}

pub(super) fn max_priority(policy: i32) -> io::Result<i32> {
    // SAFETY: it takes a number and touches no memory.
    let found = unsafe { libc::sched_get_priority_max(policy) };
    done(found.into()).map(|_| found)
}

const NO_FLAGS: u32 = 0;

/// Converts the result of a system call: -1 means that `errno` holds the reason.
fn done(returned: libc::c_long) -> io::Result<libc::c_long> {
    if returned == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(returned)
}
