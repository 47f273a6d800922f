//! Bounds of `[limits]`: below the lower ones no call gets through, above the upper ones nothing is
//! limited.
//!
//! Zero means "none" of times only. As one of these limits it would let nothing pass.

use super::budgets::Budgets;
use super::error::{ConfigError, bad_value};
use punctual_cdr::Limits;

/// Minimum of `limits.string` and `limits.sequence`: system exceptions are identified by ids of up
/// to 45 bytes, and objects by keys, which are sequences.
const LEAST_TEXT: u64 = 64;

/// Minimum of `limits.received`: only messages of more than 16 KiB count.
const LEAST_RECEIVED: u64 = 16 << 10;

/// Maximum of `limits.threads`: Linux allows four times as many, for all processes together.
const MOST_THREADS: u64 = 1 << 20;

/// Bounds of `limits.message`: the length of a message has 32 bits on the wire.
const MESSAGES: (u64, u64, &str) = (1 << 10, 4 << 30, "1024 octets to 4 GiB");

/// Checks all limits.
pub(super) fn check(limits: &Limits, budgets: &Budgets) -> Result<(), ConfigError> {
    check_message("limits.message", limits.message)?;
    let at_least_1 = (1, u64::MAX, "at least 1");
    let text = (LEAST_TEXT, u64::MAX, "at least 64 octets");
    let elements = (LEAST_TEXT, u64::MAX, "at least 64 elements");
    let fragments = (1 << 10, u64::MAX, "at least 1024 octets");
    let received = (LEAST_RECEIVED, u64::MAX, "at least 16384 octets");
    let threads = (1, MOST_THREADS, "1 to 1048576 threads");
    for (key, value, range) in [
        ("limits.string", wide(limits.string), text),
        ("limits.sequence", wide(limits.sequence), elements),
        ("limits.nesting", u64::from(limits.nesting), at_least_1),
        ("limits.values", wide(limits.values), at_least_1),
        (
            "limits.fragments_pending",
            wide(limits.fragments_pending),
            at_least_1,
        ),
        (
            "limits.fragments_bytes",
            wide(limits.fragments_bytes),
            fragments,
        ),
        ("limits.received", wide(budgets.received), received),
        ("limits.threads", wide(budgets.threads), threads),
        (
            "limits.requests_per_connection",
            u64::from(budgets.requests_per_connection),
            at_least_1,
        ),
        (
            "limits.pending_replies",
            wide(budgets.pending_replies),
            at_least_1,
        ),
        (
            "limits.pending_replies_per_connection",
            wide(budgets.pending_replies_per_connection),
            at_least_1,
        ),
        ("limits.endpoints", wide(budgets.endpoints), at_least_1),
    ] {
        check_one(key, value, range)?;
    }
    Ok(())
}

/// Checks the maximum message length that a key or an option sets.
pub(super) fn check_message(key: &str, octets: usize) -> Result<(), ConfigError> {
    check_one(key, wide(octets), MESSAGES)
}

fn check_one(
    key: &str,
    value: u64,
    (least, most, expected): (u64, u64, &str),
) -> Result<(), ConfigError> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(bad_value(key, value, expected)),
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_within_their_bounds() {
        check(&Limits::default(), &Budgets::default()).unwrap();
    }

    #[test]
    fn what_a_program_sets_is_checked_as_what_a_file_says() {
        let limits = Limits {
            string: 63,
            ..Limits::default()
        };
        let error = check(&limits, &Budgets::default()).unwrap_err().to_string();
        assert!(
            error.contains("`63` does not fit `limits.string`"),
            "{error}"
        );
    }
}
