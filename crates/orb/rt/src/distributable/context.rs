//! SchedulingSegment, the service context of requests that are made in a segment ([`Carried`]).

use super::carried::{Carried, LENGTH};
use super::stack;
use punctual_giop::service_context::SCHEDULING_SEGMENT;
use punctual_orb::{CallPolicies, RequestContext};

/// Service context of the requests that a thread makes in a segment.
#[derive(Debug)]
pub(crate) struct SegmentContext;

impl RequestContext for SegmentContext {
    fn id(&self) -> u32 {
        SCHEDULING_SEGMENT
    }

    fn length(&self) -> usize {
        LENGTH
    }

    fn is_wanted(&self, policies: CallPolicies<'_>) -> bool {
        policies.are_of_segment()
    }

    fn fill(&self, data: &mut [u8]) {
        let carried = stack::carried().map(Carried::encoded);
        let carried = carried.unwrap_or([0; LENGTH]);
        data.iter_mut()
            .zip(carried)
            .for_each(|(to, from)| *to = from);
    }
}
