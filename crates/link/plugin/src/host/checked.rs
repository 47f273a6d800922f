//! Checked conversion of a library's texts and failures.

use crate::abi::{self, Failure, LONGEST_REASON, Text};
use punctual_link::{Cause, LinkError, Phase};
use std::borrow::Cow;
use std::ffi::c_int;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Number of different reasons of one library that are kept verbatim.
const REASONS: usize = 64;
/// Text that replaces error reasons beyond the number kept for a library.
const TOO_MANY_REASONS: &str =
    "a reason of its library that is not kept: the library has given too many different ones";

/// Copies a text that the library owns.
///
/// # Safety
/// `text` is valid for its stated length, or null.
pub(super) unsafe fn text(text: Text, longest: usize) -> Result<String, &'static str> {
    if text.length == 0 {
        return Ok(String::new());
    }
    if text.octets.is_null() {
        return Err("it is null");
    }
    if text.length > longest {
        return Err("it is too long");
    }
    // SAFETY: not null, and valid for its length, by this function's own condition.
    let octets = unsafe { std::slice::from_raw_parts(text.octets, text.length) };
    let text = std::str::from_utf8(octets).map_err(|_| "it is not UTF-8")?;
    if text.chars().any(char::is_control) {
        return Err("it has control characters");
    }
    Ok(text.to_owned())
}

/// Reasons given by one library, kept until the process ends, since a link's errors hold static
/// texts. At most [`REASONS`] of [`LONGEST_REASON`] bytes, whatever a peer provokes.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    kept: Mutex<Vec<&'static str>>,
}

impl Reasons {
    fn keep(&self, reason: &str) -> &'static str {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = kept.iter().find(|same| **same == reason) {
            return same;
        }
        if kept.len() >= REASONS {
            return TOO_MANY_REASONS;
        }
        let reason: &'static str = Box::leak(reason.into());
        kept.push(reason);
        reason
    }

    /// Converts the failure that a function of phase `during` returned with `status`.
    pub(super) fn link_error(
        &self,
        library: &Path,
        during: Phase,
        status: c_int,
        failure: &Failure,
    ) -> LinkError {
        let text = reason(&failure.text, failure.text_length);
        let expected = || self.keep(&reason(&failure.expected, failure.expected_length));
        let number = usize::try_from(failure.number).unwrap_or(usize::MAX);
        let cause = match status {
            abi::TIMED_OUT => Cause::TimedOut,
            abi::CLOSED => Cause::Closed,
            abi::BAD_ADDRESS => Cause::BadAddress(expected()),
            abi::BAD_PROPERTY => Cause::BadProperty {
                property: text.into(),
                expected: expected(),
            },
            abi::BAD_PEER => Cause::BadPeer(self.keep(&text)),
            abi::TOO_LARGE => Cause::TooLarge(number),
            abi::NO_MEMORY => Cause::NoMemory(number),
            abi::OS => Cause::Os(os_error(failure.number, &text)),
            abi::PANICKED => return broken(library, during, &format!("panicked: {text}")),
            other => {
                return broken(
                    library,
                    during,
                    &format!("returned the unknown code {other}"),
                );
            }
        };
        LinkError {
            phase: phase(failure.phase).unwrap_or(during),
            cause,
        }
    }
}

/// Makes the error of a library that violates the ABI, or panicked.
pub(super) fn broken(library: &Path, phase: Phase, how: &str) -> LinkError {
    let text = format!("the link's library `{}` {how}", library.display());
    LinkError {
        phase,
        cause: Cause::Os(io::Error::other(text)),
    }
}

fn phase(number: u32) -> Option<Phase> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    abi::PHASES.get(index).copied()
}

/// Makes an operating system error from an `errno`, or from the text if the number is 0 or invalid.
fn os_error(number: u64, text: &str) -> io::Error {
    match i32::try_from(number) {
        Ok(number) if number != 0 => io::Error::from_raw_os_error(number),
        _ => io::Error::other(text),
    }
}

/// Returns a text of a failure, fit to be printed: no longer than its field, no control characters.
fn reason(octets: &[u8; LONGEST_REASON], length: u32) -> String {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let octets = octets.get(..length).unwrap_or(octets);
    let text: Cow<'_, str> = String::from_utf8_lossy(octets);
    if text.is_empty() {
        return "no reason given".to_owned();
    }
    text.replace(char::is_control, " ")
}

/// Returns a failure as text for people, e.g. the reason why a link did not open.
pub(super) fn failure_text(status: c_int, failure: &Failure) -> String {
    match (status, i32::try_from(failure.number)) {
        (abi::OS, Ok(number)) if number != 0 => io::Error::from_raw_os_error(number).to_string(),
        (abi::PANICKED, _) => {
            format!(
                "it panicked: {}",
                reason(&failure.text, failure.text_length)
            )
        }
        _ => reason(&failure.text, failure.text_length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &[u8]) -> Failure {
        let mut failure = Failure::NONE;
        failure.text[..text.len()].copy_from_slice(text);
        failure.text_length = u32::try_from(text.len()).unwrap();
        failure
    }

    fn told(status: c_int, failure: &Failure) -> LinkError {
        Reasons::default().link_error(Path::new("x.so"), Phase::Send, status, failure)
    }

    #[test]
    fn a_reason_longer_than_its_place_ends_there_and_control_characters_go() {
        let mut long = failure(b"two\nlines");
        assert_eq!(
            told(abi::BAD_PEER, &long).to_string(),
            "sending: the peer broke the link's protocol: two lines"
        );
        long.text_length = u32::MAX;
        let text = told(abi::BAD_PEER, &long).to_string();
        assert!(text.len() < 2 * LONGEST_REASON, "{text}");
    }

    #[test]
    fn a_peer_cannot_make_a_library_keep_reasons_without_end() {
        let reasons = Reasons::default();
        for number in 0..10 * REASONS {
            reasons.keep(&number.to_string());
        }
        assert_eq!(reasons.kept.lock().unwrap().len(), REASONS);
        assert_eq!(reasons.keep("1"), "1");
        assert_eq!(reasons.keep("another"), TOO_MANY_REASONS);
    }

    #[test]
    fn an_unknown_code_names_the_library() {
        let text = told(77, &Failure::NONE).to_string();
        assert_eq!(
            text,
            "sending: the link's library `x.so` returned the unknown code 77"
        );
    }

    #[test]
    fn an_unknown_phase_is_that_of_the_function() {
        let mut odd = Failure::NONE;
        odd.phase = 99;
        assert_eq!(told(abi::CLOSED, &odd).phase, Phase::Send);
        odd.phase = 1;
        assert_eq!(told(abi::CLOSED, &odd).phase, Phase::Resolve);
    }

    #[test]
    fn a_text_must_be_short_and_printable() {
        let check = |octets: &[u8]| {
            let given = Text {
                octets: octets.as_ptr(),
                length: octets.len(),
            };
            // SAFETY: the slice lives through the call.
            unsafe { text(given, 8) }
        };
        assert_eq!(check(b"place"), Ok("place".to_owned()));
        assert_eq!(check(b""), Ok(String::new()));
        assert_eq!(check(b"123456789"), Err("it is too long"));
        assert_eq!(check(b"\xff"), Err("it is not UTF-8"));
        assert_eq!(check(b"a\nb"), Err("it has control characters"));
        let null = Text {
            octets: std::ptr::null(),
            length: 1,
        };
        // SAFETY: null is refused before it is read.
        assert_eq!(unsafe { text(null, 8) }, Err("it is null"));
    }
}
