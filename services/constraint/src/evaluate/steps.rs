//! Steps that an evaluation may still take.

use super::failure::Failure;

/// Bytes of an encoded value that count as a step.
const BYTES_PER_STEP: usize = 64;

/// Number of steps that are left.
pub(crate) struct Steps(u32);

impl Steps {
    pub(super) const fn new(limit: u32) -> Self {
        Self(limit)
    }

    /// Takes this many steps.
    pub(super) fn take(&mut self, count: usize) -> Result<(), Failure> {
        let left = u32::try_from(count)
            .ok()
            .and_then(|count| self.0.checked_sub(count));
        self.0 = left.ok_or(Failure::Steps)?;
        Ok(())
    }

    /// Takes a step, and those for this many bytes.
    pub(super) fn take_bytes(&mut self, count: usize) -> Result<(), Failure> {
        self.take(1 + count / BYTES_PER_STEP)
    }
}
