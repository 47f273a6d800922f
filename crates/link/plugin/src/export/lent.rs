//! Memory that library and host lend each other.

use crate::abi::{NEVER, Text};
use punctual_exec::Deadline;
use std::time::Duration;

/// Converts a time-out in nanoseconds, as given by the host, to a deadline.
pub(super) fn deadline(nanoseconds: i64) -> Deadline {
    if nanoseconds == NEVER {
        return Deadline::NEVER;
    }
    Deadline::after(Duration::from_nanos(
        u64::try_from(nanoseconds).unwrap_or(0),
    ))
}

/// Lends the host `text`, which lives as long as its handle.
///
/// # Safety
/// `to` is valid for writing.
pub(super) unsafe fn lend(text: &str, to: *mut Text) {
    let lent = Text {
        octets: text.as_ptr(),
        length: text.len(),
    };
    // SAFETY: by this function's own condition.
    unsafe { to.write(lent) };
}

/// Converts a text to a string, if it is UTF-8.
///
/// # Safety
/// The text is valid for its length during `'a`, or null.
pub(super) unsafe fn borrow<'a>(text: Text) -> Option<&'a str> {
    // SAFETY: by this function's own condition.
    std::str::from_utf8(unsafe { slice(text.octets, text.length) }).ok()
}

/// Converts pointer and length to a slice; null gives an empty one.
///
/// # Safety
/// `first` begins `count` elements that live for `'a`, or is null.
pub(super) unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by this function's own condition.
    unsafe { std::slice::from_raw_parts(first, count) }
}
