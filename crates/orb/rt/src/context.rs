//! RTCorbaPriority, the service context that carries a request's priority (Real-time CORBA 1.2, §5.7.3).
//!
//! ```text
//! encapsulation { short priority; }
//! ```

use crate::orb::RtOrb;
use crate::priority_model::PriorityModelPolicy;
use crate::thread;
use punctual_cdr::{CdrError, Coding, Decoder};
use punctual_giop::service_context::RT_CORBA_PRIORITY;
use punctual_ior::PriorityModel;
use punctual_orb::Priority;
use punctual_orb::{CallPolicies, RequestContext};
use std::sync::Arc;

/// Octets of its data.
const LENGTH: usize = 4;

/// The number that a request carries, which may be none of a priority.
#[inline]
pub(crate) fn decoded(data: &[u8]) -> Result<i16, CdrError> {
    match *data {
        [1, _, first, second] => Ok(i16::from_le_bytes([first, second])),
        [0, _, first, second] => Ok(i16::from_be_bytes([first, second])),
        // Longer than it need be.
        _ => decoded_otherwise(data),
    }
}

#[cold]
fn decoded_otherwise(data: &[u8]) -> Result<i16, CdrError> {
    Decoder::of_encapsulation(data, Coding::default())?.get_i16()
}

/// Carried by calls to objects whose clients decide.
#[derive(Debug)]
pub(crate) struct PriorityContext {
    orb: Arc<RtOrb>,
}

impl PriorityContext {
    pub(crate) fn new(orb: Arc<RtOrb>) -> Self {
        Self { orb }
    }

    /// That of a thread for which none was set: what its native one is.
    #[cold]
    fn of_native(&self) -> Priority {
        let native = thread::native_priority();
        let mapped = native.and_then(|native| self.orb.priority_mapping().to_corba(native));
        mapped.unwrap_or_default()
    }
}

impl RequestContext for PriorityContext {
    fn id(&self) -> u32 {
        RT_CORBA_PRIORITY
    }

    fn length(&self) -> usize {
        LENGTH
    }

    fn is_wanted(&self, policies: CallPolicies<'_>) -> bool {
        let published = policies.value::<PriorityModelPolicy>();
        published.is_some_and(|policy| policy.model == PriorityModel::ClientPropagated)
    }

    fn is_priority_of_thread(&self) -> bool {
        self.orb.transform().is_none()
    }

    fn fill(&self, data: &mut [u8]) {
        let priority = Priority::of_thread().unwrap_or_else(|| self.of_native());
        let priority = match self.orb.transform() {
            Some(transform) => transform.outbound(priority),
            None => priority,
        };
        if let Some(data) = data.first_chunk_mut() {
            *data = priority.in_context();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_read_in_either_order_and_at_any_length() {
        assert_eq!(decoded(&[0, 0, 0x12, 0x34]), Ok(0x1234));
        assert_eq!(decoded(&[1, 0, 0x34, 0x12]), Ok(0x1234));
        assert_eq!(decoded(&[1, 0xff, 0x34, 0x12, 9, 9]), Ok(0x1234));
        assert_eq!(decoded(&[0, 0, 0xff, 0xff]), Ok(-1));
        for short in [&[][..], &[0], &[0, 0, 1], &[1, 0]] {
            decoded(short).unwrap_err();
        }
        let highest = Priority::MAX.in_context();
        assert_eq!(decoded(&highest), Ok(i16::MAX));
    }
}
