//! Conversion of CORBA priorities to native ones, and back (RTCORBA::PriorityMapping; Real-time
//! CORBA 1.2, §5.5).

mod standard;

pub use standard::{ContinuousMapping, DirectMapping, LinearMapping};

use punctual_orb::Priority;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Mapping of CORBA priorities to native ones, and back. It is used by every call, and so should
/// neither block nor allocate, and must always return the same result for a priority.
///
/// The standard does not specify how an application installs its own mapping, which O'Ryan et al.
/// 2001 point out as a gap: here it is [`Mapping::Custom`] in the configuration.
pub trait PriorityMapping: Send + Sync + Debug {
    /// Returns the native priority for a CORBA priority; `None` if it has none.
    fn to_native(&self, priority: Priority) -> Option<i32>;

    /// Returns the CORBA priority for a native priority; `None` if it has none.
    fn to_corba(&self, native: i32) -> Option<Priority>;
}

/// Mapping between the CORBA and the native priorities of an ORB.
#[derive(Clone, Debug, Default)]
pub enum Mapping {
    /// CORBA and native priority are the same number: [`DirectMapping`].
    Direct,
    /// Scaling of the whole CORBA range to the whole native range: [`LinearMapping`].
    #[default]
    Linear,
    /// One native priority for each CORBA priority, from the lowest on: [`ContinuousMapping`].
    Continuous,
    /// Priority mapping that the application provides.
    Custom(Arc<dyn PriorityMapping>),
}

impl Mapping {
    /// Creates the mapping for this range of native priorities.
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
