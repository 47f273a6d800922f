//! CORBA priorities.

use std::fmt;

/// CORBA priority (RTCORBA::Priority; Real-time CORBA 1.2, §5.4): 0 to 32767, a higher one more
/// urgent. A priority mapping converts it to an operating system's priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i16);

/// Error for a number that is not a CORBA priority.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a CORBA priority: the range is 0 to 32767")]
pub struct PriorityOutOfRange(pub i32);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for PriorityOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Priority {
    /// Lowest CORBA priority (RTCORBA::minPriority).
    pub const MIN: Self = Self(0);
    /// Highest CORBA priority (RTCORBA::maxPriority).
    pub const MAX: Self = Self(i16::MAX);

    /// Creates a priority.
    ///
    /// # Errors
    /// [`PriorityOutOfRange`] for a negative one.
    pub const fn new(priority: i16) -> Result<Self, PriorityOutOfRange> {
        match priority >= 0 {
            true => Ok(Self(priority)),
            false => Err(PriorityOutOfRange(priority as i32)),
        }
    }

    /// Returns the CORBA priority as a number.
    #[must_use]
    pub const fn get(self) -> i16 {
        self.0
    }
}

impl TryFrom<i32> for Priority {
    type Error = PriorityOutOfRange;

    fn try_from(priority: i32) -> Result<Self, PriorityOutOfRange> {
        let number = i16::try_from(priority).map_err(|_| PriorityOutOfRange(priority))?;
        Self::new(number)
    }
}

impl From<Priority> for i32 {
    fn from(priority: Priority) -> Self {
        Self::from(priority.0)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_those_of_corba() {
        assert_eq!(Priority::try_from(32_767), Ok(Priority::MAX));
        assert_eq!(Priority::new(7).map(Priority::get), Ok(7));
        for none in [-1, 32_768, i32::MIN, i32::MAX] {
            assert_eq!(Priority::try_from(none), Err(PriorityOutOfRange(none)));
        }
        assert!(Priority::MIN < Priority::MAX);
    }
}
