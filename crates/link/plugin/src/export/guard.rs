//! Conversion of a link's errors and panics to codes.

use crate::abi::{self, Failure, LONGEST_REASON, OK};
use punctual_link::{Cause, LinkError, Phase};
use std::any::Any;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Failure, and its code. Boxed: it is large, and made only on an error.
pub(super) struct Refused {
    cause: c_int,
    failure: Box<Failure>,
}

impl From<LinkError> for Refused {
    fn from(error: LinkError) -> Self {
        let mut failure = Box::new(Failure::NONE);
        failure.phase = phase(error.phase);
        let cause = match &error.cause {
            Cause::TimedOut => abi::TIMED_OUT,
            Cause::Closed => abi::CLOSED,
            Cause::BadAddress(fitting) => {
                failure.expect(fitting);
                abi::BAD_ADDRESS
            }
            Cause::BadProperty { property, expected } => {
                failure.say(property);
                failure.expect(expected);
                abi::BAD_PROPERTY
            }
            Cause::BadPeer(how) => {
                failure.say(how);
                abi::BAD_PEER
            }
            Cause::TooLarge(octets) => {
                failure.number = *octets as u64;
                abi::TOO_LARGE
            }
            Cause::NoMemory(octets) => {
                failure.number = *octets as u64;
                abi::NO_MEMORY
            }
            Cause::Os(os) => {
                failure.number = errno(os);
                failure.say(&os.to_string());
                abi::OS
            }
        };
        Self { cause, failure }
    }
}

impl Refused {
    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let mut failure = Box::new(Failure::NONE);
        failure.say(text.unwrap_or("with a payload that is not text"));
        Self {
            cause: abi::PANICKED,
            failure,
        }
    }
}

impl Failure {
    fn say(&mut self, text: &str) {
        self.text_length = put(&mut self.text, text);
    }

    fn expect(&mut self, text: &str) {
        self.expected_length = put(&mut self.expected, text);
    }
}

/// Writes as many whole characters as there is room for; returns their length.
fn put(place: &mut [u8; LONGEST_REASON], text: &str) -> u32 {
    let end = text.floor_char_boundary(LONGEST_REASON);
    let octets = text.as_bytes().get(..end).unwrap_or_default();
    for (to, from) in place.iter_mut().zip(octets) {
        *to = *from;
    }
    u32::try_from(end).unwrap_or(0)
}

fn phase(phase: Phase) -> u32 {
    let index = abi::PHASES.iter().position(|one| *one == phase);
    index.map_or(0, |index| u32::try_from(index + 1).unwrap_or(0))
}

fn errno(error: &std::io::Error) -> u64 {
    error
        .raw_os_error()
        .and_then(|number| u64::try_from(number).ok())
        .unwrap_or(0)
}

/// Runs `work`, and converts its outcome to a code.
///
/// # Safety
/// `failure` is valid for writing.
pub(super) unsafe fn guarded(
    failure: *mut Failure,
    work: impl FnOnce() -> Result<(), Refused>,
) -> c_int {
    // A panic may leave the link's state half done, as it would without a boundary: its locks are
    // poisoned, and the host closes the failed object.
    let refused = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return OK,
        Ok(Err(refused)) => refused,
        Err(payload) => Refused::panicked(&*payload),
    };
    // SAFETY: by this function's own condition.
    unsafe { failure.write(*refused.failure) };
    refused.cause
}

/// Runs `work`, which cannot fail; if it panics, returns `otherwise`.
pub(super) fn catching_panic_or<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut failure = Failure::NONE;
        failure.say(&format!("{}ä", "x".repeat(LONGEST_REASON - 1)));
        assert_eq!(failure.text_length, 255);
        failure.say("ä");
        assert_eq!(failure.text_length, 2);
    }
}
