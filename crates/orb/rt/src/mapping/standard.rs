//! Standard priority mappings, with the names that TAO gives them.

use super::PriorityMapping;
use punctual_orb::Priority;
use std::ops::RangeInclusive;

/// Mapping of a CORBA priority to the native one of the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectMapping {
    native: RangeInclusive<i32>,
}

/// Mapping that spreads the CORBA priorities evenly over the native ones: 0 is the lowest, 32767
/// the highest. A value between two native priorities becomes the lower one. A native priority that
/// is mapped to CORBA and back is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearMapping {
    native: RangeInclusive<i32>,
}

/// Mapping of CORBA priority 0 to the lowest native one, 1 to the next, and so on; there are as
/// many CORBA priorities as native ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuousMapping {
    native: RangeInclusive<i32>,
}

impl DirectMapping {
    /// Creates a mapping to this range of native priorities.
    #[must_use]
    pub fn new(native: RangeInclusive<i32>) -> Self {
        Self { native }
    }
}

impl LinearMapping {
    /// Creates a mapping to this range of native priorities.
    #[must_use]
    pub fn new(native: RangeInclusive<i32>) -> Self {
        Self { native }
    }

    /// Returns the number of steps between the lowest and the highest native one.
    fn steps(&self) -> i64 {
        (i64::from(*self.native.end()) - i64::from(*self.native.start())).max(0)
    }
}

impl ContinuousMapping {
    /// Creates a mapping to this range of native priorities.
    #[must_use]
    pub fn new(native: RangeInclusive<i32>) -> Self {
        Self { native }
    }
}

/// Highest CORBA priority (RTCORBA::maxPriority).
const HIGHEST: i64 = i16::MAX as i64;

impl PriorityMapping for DirectMapping {
    #[inline]
    fn to_native(&self, priority: Priority) -> Option<i32> {
        Some(i32::from(priority)).filter(|native| self.native.contains(native))
    }

    #[inline]
    fn to_corba(&self, native: i32) -> Option<Priority> {
        let native = self.native.contains(&native).then_some(native)?;
        Priority::try_from(native).ok()
    }
}

impl PriorityMapping for LinearMapping {
    #[inline]
    fn to_native(&self, priority: Priority) -> Option<i32> {
        let above = i64::from(priority.get()) * self.steps() / HIGHEST;
        let native = i64::from(*self.native.start()) + above;
        i32::try_from(native).ok()
    }

    #[inline]
    fn to_corba(&self, native: i32) -> Option<Priority> {
        let native = self.native.contains(&native).then_some(native)?;
        let above = i64::from(native) - i64::from(*self.native.start());
        // The lowest CORBA priority that is mapped there: rounded up.
        let steps = self.steps().max(1);
        let priority = (above * HIGHEST + steps - 1) / steps;
        Priority::try_from(i32::try_from(priority).ok()?).ok()
    }
}

impl PriorityMapping for ContinuousMapping {
    #[inline]
    fn to_native(&self, priority: Priority) -> Option<i32> {
        let native = self.native.start().checked_add(i32::from(priority))?;
        self.native.contains(&native).then_some(native)
    }

    #[inline]
    fn to_corba(&self, native: i32) -> Option<Priority> {
        let native = self.native.contains(&native).then_some(native)?;
        Priority::try_from(native.checked_sub(*self.native.start())?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(priority: i16) -> Priority {
        Priority::new(priority).unwrap()
    }

    #[test]
    fn the_ends_of_the_ranges_are_mapped_to_each_other() {
        // Range of SCHED_FIFO on Linux.
        let linear = LinearMapping::new(1..=99);
        assert_eq!(linear.to_native(Priority::MIN), Some(1));
        assert_eq!(linear.to_native(Priority::MAX), Some(99));
        assert_eq!(linear.to_corba(1), Some(Priority::MIN));
        assert_eq!(linear.to_corba(99), Some(Priority::MAX));
        // Value from O'Ryan et al. 2001 for TAO: (99 - 1) * 16384 / 32767 above the lowest.
        assert_eq!(linear.to_native(at(16384)), Some(50));
        assert_eq!(linear.to_corba(0), None);
        assert_eq!(linear.to_corba(100), None);

        let direct = DirectMapping::new(1..=99);
        assert_eq!(direct.to_native(at(50)), Some(50));
        assert_eq!(direct.to_native(Priority::MIN), None);
        assert_eq!(direct.to_native(at(100)), None);
        assert_eq!(direct.to_corba(99), Some(at(99)));

        let continuous = ContinuousMapping::new(1..=99);
        assert_eq!(continuous.to_native(Priority::MIN), Some(1));
        assert_eq!(continuous.to_native(at(98)), Some(99));
        assert_eq!(continuous.to_native(at(99)), None);
        assert_eq!(continuous.to_corba(1), Some(Priority::MIN));
    }

    #[test]
    fn where_there_is_one_native_priority_all_are_it() {
        // Range of SCHED_OTHER.
        let linear = LinearMapping::new(0..=0);
        assert_eq!(linear.to_native(Priority::MIN), Some(0));
        assert_eq!(linear.to_native(Priority::MAX), Some(0));
        assert_eq!(linear.to_corba(0), Some(Priority::MIN));
    }

    proptest! {
        #[test]
        fn a_native_priority_comes_back_as_it_was(low in -200..200_i32, steps in 0..32_000_i32, step in 0..32_000_i32) {
            let native = low..=low + steps;
            let wanted = low + step % (steps + 1);
            let linear = LinearMapping::new(native.clone());
            let corba = linear.to_corba(wanted).unwrap();
            prop_assert_eq!(linear.to_native(corba), Some(wanted));
            let continuous = ContinuousMapping::new(native);
            let corba = continuous.to_corba(wanted).unwrap();
            prop_assert_eq!(continuous.to_native(corba), Some(wanted));
        }

        #[test]
        fn a_more_urgent_one_is_never_mapped_below_another(one in 0..=i16::MAX, other in 0..=i16::MAX) {
            let linear = LinearMapping::new(1..=99);
            let (low, high) = (at(one.min(other)), at(one.max(other)));
            prop_assert!(linear.to_native(low) <= linear.to_native(high));
        }
    }
}
