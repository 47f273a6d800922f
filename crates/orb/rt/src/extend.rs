//! Extension of an ORB by an RTORB, and the Currents of threads.

use crate::at_priority::ByPriorityModel;
use crate::client_priority::ClientPriorityPolicy;
use crate::connection::{PriorityBandedConnectionPolicy, PrivateConnectionPolicy};
use crate::context::PriorityContext;
use crate::current::RtCurrent;
use crate::distributable::{SchedulingCurrent, SegmentContext};
use crate::orb::RtOrb;
use crate::priority_model::PriorityModelPolicy;
use crate::thread_pool::ThreadpoolPolicy;
use punctual_orb::{InitError, OrbBuilder};
use std::sync::Arc;

impl RtOrb {
    /// Adds this RTORB to an ORB, with the policies and service contexts of Real-time CORBA;
    /// [`RtOrb::of`] then finds it.
    ///
    /// # Errors
    /// [`InitError::PolicyType`] when the ORB has another policy type of the same number.
    pub fn extend(self: &Arc<Self>, builder: OrbBuilder) -> Result<OrbBuilder, InitError> {
        let context = Arc::new(PriorityContext::new(self.clone()));
        let builder = match self.dynamic() {
            Some(_) => builder.request_context(Arc::new(SegmentContext)),
            None => builder,
        };
        Ok(builder
            .policy_type::<PriorityModelPolicy>()?
            .policy_type::<ClientPriorityPolicy>()?
            .policy_type::<PriorityBandedConnectionPolicy>()?
            .policy_type::<PrivateConnectionPolicy>()?
            .policy_type::<ThreadpoolPolicy>()?
            .priorities(self.clone())
            .request_context(context)
            .around_upcalls(Arc::new(ByPriorityModel(self.clone())))
            .extension(self.clone()))
    }

    /// Returns the interface to the calling thread's priority (RTCORBA::Current).
    #[must_use]
    pub fn current(&self) -> RtCurrent<'_> {
        RtCurrent::new(self)
    }

    /// Returns the interface to the calling thread's scheduling segments (RTScheduling::Current).
    #[must_use]
    pub fn scheduling(self: &Arc<Self>) -> SchedulingCurrent<'_> {
        SchedulingCurrent::new(self)
    }
}
