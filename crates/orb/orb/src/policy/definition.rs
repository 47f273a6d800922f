//! Definitions of policy types.

use super::any_policy::Policy;
use super::known_protocols::KnownProtocols;
use super::policy_type::{PolicyLevels, PolicyType};
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_ior::TaggedComponent;

/// Properties and functions of a policy type, as the ORB's table holds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) levels: PolicyLevels,
    pub(super) check: fn(&Policy, &dyn KnownProtocols) -> Result<(), String>,
    /// Merges a client's policies of an outer level (first argument) and of an inner level.
    pub(super) merge: fn(&Policy, &Policy) -> Result<Policy, String>,
    /// Reconciles a client's policy (first argument) with one that a reference publishes.
    pub(super) reconcile: fn(&Policy, &Policy) -> Result<Policy, String>,
    /// Codec for values in references, if policies of this type are published.
    pub(super) codec: Option<Codec>,
    pub(super) surrounds_upcalls: bool,
    /// Component that a policy of an adapter adds to references.
    pub(super) component: fn(&Policy) -> Option<TaggedComponent>,
}

/// Conversion between a policy's value and its encoding in references, an encapsulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    /// Encodes a policy; the second argument is all of the adapter.
    pub(super) write: fn(&Policy, &[Policy]) -> Result<Vec<u8>, CdrError>,
    /// Decodes what a reference publishes, which may be several policies, or none that the client applies.
    pub(super) read: fn(&[u8]) -> Result<Vec<Policy>, CdrError>,
}

impl Definition {
    /// Returns the definition of a type that implements [`PolicyType`].
    pub(super) fn of<P: PolicyType>() -> Self {
        Self {
            number: P::NUMBER,
            name: P::NAME,
            levels: P::LEVELS,
            check: |policy, _| value::<P>(policy)?.check(),
            merge: |outer, inner| P::merge(value(outer)?, value(inner)?).map(Policy::of),
            reconcile: |client, published| {
                P::reconcile(value(client)?, value(published)?).map(Policy::of)
            },
            codec: P::CODEC.is_some().then_some(Codec {
                write: write::<P>,
                read: read::<P>,
            }),
            surrounds_upcalls: P::SURROUNDS_UPCALLS,
            component: |policy| policy.value::<P>()?.component(),
        }
    }
}

/// Returns the value of a policy. The error is possible because two Rust types may have the same
/// policy type number.
fn value<P: PolicyType>(policy: &Policy) -> Result<&P, String> {
    let value = policy.value::<P>();
    value.ok_or_else(|| format!("{policy:?} is not a `{}`", P::NAME))
}

fn write<P: PolicyType>(policy: &Policy, _: &[Policy]) -> Result<Vec<u8>, CdrError> {
    let (Some(codec), Some(value)) = (P::CODEC, policy.value::<P>()) else {
        return Ok(Vec::new());
    };
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        (codec.write)(value, out)
    })
}

fn read<P: PolicyType>(data: &[u8]) -> Result<Vec<Policy>, CdrError> {
    let codec = P::CODEC.ok_or(CdrError::BadEncapsulation)?;
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    Ok(vec![Policy::of((codec.read)(&mut input)?)])
}
