//! Thresholds of capacity alarms, as they are kept.

use crate::ds_log_admin::{InvalidThreshold, Threshold};

/// Returns thresholds in rising order, each once.
///
/// # Errors
/// One is no percentage.
pub(super) fn sorted(thresholds: &[Threshold]) -> Result<Vec<Threshold>, InvalidThreshold> {
    if thresholds.iter().any(|percent| *percent > 100) {
        return Err(InvalidThreshold);
    }
    Ok(distinct(thresholds))
}

/// Returns numbers in rising order, each once.
pub(super) fn distinct(numbers: &[u16]) -> Vec<u16> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
