//! RTCorbaPriority, the service context that carries a request's priority (Real-time CORBA 1.2, §5.7.3).
//!
//! ```text
//! encapsulation { short priority; }
//! ```

use crate::orb::RtOrb;
use crate::priority_model::PriorityModelPolicy;
use crate::thread;
use punctual_cdr::{CdrError, Coding, Decoder};
use punctual_giop::ServiceContexts;
use punctual_giop::service_context::RT_CORBA_PRIORITY;
use punctual_ior::PriorityModel;
use punctual_orb::{
    CallPolicies, ObeyedWord, Priority, RequestContext, RunsAt, ServerCall, WordLayout,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Length of the service context's data, in bytes.
const LENGTH: usize = 4;
/// Layout of the data: byte order flag and padding, then the priority.
const LAYOUT: WordLayout = WordLayout::priority_last([cfg!(target_endian = "little") as u8, 0]);

/// Returns the data that encode a priority, in this machine's byte order.
#[inline]
pub(crate) const fn encoded(priority: Priority) -> [u8; LENGTH] {
    LAYOUT.word(priority)
}

/// Returns the priority as a number, which need not be a valid priority.
///
/// # Errors
/// [`CdrError`] for data that are too short.
#[inline]
pub(crate) fn decoded(data: &[u8]) -> Result<i16, CdrError> {
    match *data {
        [1, _, first, second] => Ok(i16::from_le_bytes([first, second])),
        [0, _, first, second] => Ok(i16::from_be_bytes([first, second])),
        // Longer than necessary.
        _ => decoded_otherwise(data),
    }
}

#[cold]
fn decoded_otherwise(data: &[u8]) -> Result<i16, CdrError> {
    Decoder::of_encapsulation(data, Coding::default())?.get_i16()
}

/// Returns the data of the priority context that a request carries, if it carries one.
#[inline]
pub(crate) fn carried<'m>(contexts: &ServiceContexts<'m>) -> Option<&'m [u8]> {
    contexts.find(RT_CORBA_PRIORITY)
}

/// Adds the priority to the reply of a request, as TAO does.
#[inline]
pub(crate) fn answer(call: &mut ServerCall<'_>, priority: Priority) {
    call.set_reply_context(RT_CORBA_PRIORITY, &encoded(priority));
}

/// Returns the [`ObeyedWord`] for upcalls on which the context has no other effect than to set
/// their thread's priority.
pub(crate) fn obeyed(orb: &RtOrb) -> ObeyedWord {
    ObeyedWord {
        context: RT_CORBA_PRIORITY,
        scheduler: orb.number(),
    }
}

/// Records that the calling thread runs at the priority that its request carries.
pub(crate) fn note_obeyed(orb: &RtOrb, priority: Priority) {
    RunsAt::obeys(orb.number(), encoded(priority));
}

/// Service context with the priority, for requests to objects whose priority model is
/// CLIENT_PROPAGATED.
#[derive(Debug)]
pub(crate) struct PriorityContext {
    orb: Arc<RtOrb>,
    /// True once a thread without any priority has been warned of.
    has_warned: AtomicBool,
}

impl PriorityContext {
    pub(crate) fn new(orb: Arc<RtOrb>) -> Self {
        let has_warned = AtomicBool::new(false);
        Self { orb, has_warned }
    }

    /// Returns the CORBA priority to which the thread's native priority is mapped, for a thread
    /// that was given none, as TAO does; the lowest if that is none of real time.
    #[cold]
    fn of_native(&self) -> Priority {
        let native = thread::native_priority();
        let mapped = native.and_then(|native| self.orb.priority_mapping().to_corba(native));
        // Relaxed: it orders nothing.
        if mapped.is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a thread without a CORBA priority calls an object whose clients decide on it: its requests carry the \
                 lowest, {}, and are served below those of clients without Real-time CORBA; `RtCurrent::set_the_priority` \
                 gives the thread one",
                Priority::MIN
            );
        }
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

    fn word_of_thread(&self) -> Option<WordLayout> {
        self.orb.transform().is_none().then_some(LAYOUT)
    }

    fn fill(&self, data: &mut [u8]) {
        let priority = Priority::of_thread().unwrap_or_else(|| self.of_native());
        let priority = match self.orb.transform() {
            Some(transform) => transform.outbound(priority),
            None => priority,
        };
        if let Some(data) = data.first_chunk_mut() {
            *data = encoded(priority);
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
        let highest = encoded(Priority::MAX);
        assert_eq!(decoded(&highest), Ok(i16::MAX));
    }
}
