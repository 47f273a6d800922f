//! Work that the evaluations of several constraints may cost together.

/// Number of steps that evaluations may still take together. [`Limits::steps`](crate::Limits::steps) says what a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(u32);

impl Budget {
    /// Returns a budget of so many steps.
    #[must_use]
    pub const fn new(steps: u32) -> Self {
        Self(steps)
    }

    /// Returns the number of steps that are left.
    #[must_use]
    pub const fn left(self) -> u32 {
        self.0
    }

    /// Takes steps for other work; returns whether there were as many. If not, none is left.
    pub fn take(&mut self, steps: usize) -> bool {
        let left = u32::try_from(steps)
            .ok()
            .and_then(|steps| self.0.checked_sub(steps));
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}
