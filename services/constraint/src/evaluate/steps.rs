//! Steps that an evaluation may still take.

use super::failure::Failure;
use crate::budget::Budget;

/// Bytes of an encoded value that count as a step.
const BYTES_PER_STEP: usize = 64;

/// Bytes of an encoded type that count as a step: it may have to be decoded each time, as threads remember few types.
const BYTES_OF_TYPE_PER_STEP: usize = 16;

/// Number of steps that are left.
pub(crate) struct Steps(Budget);

impl Steps {
    pub(super) const fn new(budget: Budget) -> Self {
        Self(budget)
    }

    pub(super) const fn left(&self) -> Budget {
        self.0
    }

    /// Takes this many steps.
    pub(super) fn take(&mut self, count: usize) -> Result<(), Failure> {
        match self.0.take(count) {
            true => Ok(()),
            false => Err(Failure::Steps),
        }
    }

    /// Takes a step, and those for this many bytes.
    pub(super) fn take_bytes(&mut self, count: usize) -> Result<(), Failure> {
        self.take(1 + count / BYTES_PER_STEP)
    }

    /// Takes the steps for a type of so many bytes.
    pub(super) fn take_type(&mut self, bytes: usize) -> Result<(), Failure> {
        self.take(bytes / BYTES_OF_TYPE_PER_STEP)
    }
}
