//! Times in files, as numbers of nanoseconds.

use crate::time::Time;
use serde::{Deserialize, Deserializer};

/// Reads a number of nanoseconds.
pub(super) fn nanos<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
    u64::deserialize(deserializer).map(Time::from_nanos)
}
