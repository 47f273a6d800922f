//! Limits of a scheduler.

/// Maximum number of rates of one operation.
pub(crate) const MOST_RATES: usize = 64;

/// Limits of a scheduler. A change that exceeds them is refused with NO_RESOURCES, and has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of operations. Default: 10,000.
    pub operations: usize,
    /// Maximum number of dependencies. Default: 100,000.
    pub dependencies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            operations: 10_000,
            dependencies: 100_000,
        }
    }
}
