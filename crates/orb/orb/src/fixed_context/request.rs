//! Service contexts that requests carry for users of the ORB: for example a priority, a transaction
//! or a trace.

use super::word::WordLayout;
use crate::policy::{Effective, PolicyType};
use punctual_giop::service_context;
use std::fmt::Debug;
use std::sync::Arc;

/// A service context of fixed size that an ORB's requests carry once it is added to the ORB
/// ([`crate::OrbBuilder::request_context`]; CORBA 3.3 part 2, §9.7).
///
/// It has a slot in the request header. The header is written once for an operation; only the slot is filled for each
/// request. The context is sent by protocols that have service contexts, in GIOP from version 1.1 on.
pub trait RequestContext: Send + Sync + Debug {
    /// Returns the id of the service context.
    fn id(&self) -> u32;

    /// Returns the length of the context's data in bytes, at most 64.
    fn length(&self) -> usize;

    /// Returns whether calls under these policies carry the context; by default all do. Called at the first call
    /// through a reference, and again when policies have changed.
    fn is_wanted(&self, policies: CallPolicies<'_>) -> bool {
        let _ = policies;
        true
    }

    /// Returns the layout of the data, if they are four bytes that encode only the calling thread's CORBA priority
    /// ([`Priority::of_thread`](crate::Priority::of_thread)). [`RequestContext::fill`] is then called only for threads
    /// without a priority. Called when a header template is written.
    fn word_of_thread(&self) -> Option<WordLayout> {
        None
    }

    /// Writes the data for a request that the calling thread makes. `data` has [`RequestContext::length`] bytes, which
    /// hold the data of an earlier request or zeros. Called on the data path: should neither block nor allocate.
    fn fill(&self, data: &mut [u8]);
}

/// Policies in effect for the calls through a reference: the client's, and those that the reference
/// publishes.
#[derive(Clone, Copy, Debug)]
pub struct CallPolicies<'c>(pub(crate) &'c Effective);

impl<'c> CallPolicies<'c> {
    /// Returns whether the policies apply to calls of threads in scheduling segments
    /// ([`crate::set_in_segment`]).
    #[must_use]
    pub fn are_of_segment(self) -> bool {
        self.0.in_segment
    }

    /// Returns the policy of this type, if there is one.
    #[must_use]
    pub fn value<P: PolicyType>(self) -> Option<&'c P> {
        self.0.value()
    }
}

/// Error for a service context that an ORB's requests cannot carry.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("requests cannot carry the service context {id}: {why}")]
pub struct RequestContextError {
    /// Id of the rejected service context.
    pub id: u32,
    /// Reason why requests cannot carry the service context.
    pub why: &'static str,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for RequestContextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Maximum length in bytes of a context that a server recognises on its fast path.
const LONGEST: usize = 64;

/// Returns those contexts of an ORB that calls under these policies carry.
pub(crate) fn wanted(
    contexts: &[Arc<dyn RequestContext>],
    policies: &Effective,
) -> Arc<[Arc<dyn RequestContext>]> {
    let is_wanted = |one: &&Arc<dyn RequestContext>| one.is_wanted(CallPolicies(policies));
    contexts.iter().filter(is_wanted).cloned().collect()
}

/// Checks that the contexts of an ORB have distinct ids, none of which is reserved for the ORB, and
/// at most 64 bytes of data.
pub(crate) fn check(contexts: &[Arc<dyn RequestContext>]) -> Result<(), RequestContextError> {
    for (index, context) in contexts.iter().enumerate() {
        let id = context.id();
        let earlier = contexts.get(..index).unwrap_or_default();
        let why = if id == service_context::CODE_SETS {
            "it is reserved for the ORB"
        } else if context.length() > LONGEST {
            "its data is longer than 64 octets"
        } else if earlier.iter().any(|one| one.id() == id) {
            "another one has its id"
        } else {
            continue;
        };
        return Err(RequestContextError { id, why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Sized(u32, usize);

    impl RequestContext for Sized {
        fn id(&self) -> u32 {
            self.0
        }

        fn length(&self) -> usize {
            self.1
        }

        fn fill(&self, _: &mut [u8]) {}
    }

    fn checked(contexts: &[(u32, usize)]) -> Result<(), String> {
        let one = |(id, length): &(u32, usize)| Arc::new(Sized(*id, *length)) as Arc<_>;
        let contexts: Vec<Arc<dyn RequestContext>> = contexts.iter().map(one).collect();
        check(&contexts).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_carried_is_refused_by_its_id() {
        assert_eq!(checked(&[(10, 4), (11, 64)]), Ok(()));
        for (wrong, why) in [
            (vec![(service_context::CODE_SETS, 4)], "reserved"),
            (vec![(10, 65)], "longer"),
            (vec![(10, 4), (10, 8)], "another"),
        ] {
            let error = checked(&wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
            assert!(error.contains(&wrong[0].0.to_string()), "{error}");
        }
    }
}
