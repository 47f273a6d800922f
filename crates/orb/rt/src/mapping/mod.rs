//! From CORBA priorities to native ones, and back (RTCORBA::PriorityMapping; Real-time CORBA 1.2, §5.5).

mod standard;

pub use standard::{ContinuousMapping, DirectMapping, LinearMapping};

use punctual_orb::Priority;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Which native priority a CORBA priority is, and the reverse. Asked on each call's way: it should neither block nor
/// allocate, and give the same answer each time.
///
/// The standard leaves open how an application installs its own, which O'Ryan et al. 2001 names as a gap: here it is
/// [`Mapping::Custom`] in the configuration.
pub trait PriorityMapping: Send + Sync + Debug {
    /// The native priority; `None` where there is none for it.
    fn to_native(&self, priority: Priority) -> Option<i32>;

    /// The CORBA priority of a thread that runs at this native one; `None` where there is none for it.
    fn to_corba(&self, native: i32) -> Option<Priority>;
}

/// Which mapping an ORB has.
#[derive(Clone, Debug, Default)]
pub enum Mapping {
    /// The number itself: [`DirectMapping`].
    Direct,
    /// All of the one range over all of the other: [`LinearMapping`].
    #[default]
    Linear,
    /// One for one, from the lowest on: [`ContinuousMapping`].
    Continuous,
    /// An application's own.
    Custom(Arc<dyn PriorityMapping>),
}

impl Mapping {
    /// The mapping to these native priorities.
    #[must_use]
    pub fn to(&self, native: RangeInclusive<i32>) -> Arc<dyn PriorityMapping> {
        match self {
            Self::Direct => Arc::new(DirectMapping::new(native)),
            Self::Linear => Arc::new(LinearMapping::new(native)),
            Self::Continuous => Arc::new(ContinuousMapping::new(native)),
            Self::Custom(mapping) => mapping.clone(),
        }
    }
}
