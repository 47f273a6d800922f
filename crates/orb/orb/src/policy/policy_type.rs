//! Interface of policy types, for code that adds one to an ORB.

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::TaggedComponent;
use std::any::Any;
use std::fmt;
use std::ops::BitOr;

/// Policy type, implemented for the Rust type of its values by an application or by a crate built
/// on this one, and added to an ORB by [`crate::OrbBuilder::policy_type`].
///
/// ```
/// use punctual_orb::{PolicyCodec, PolicyLevels, PolicyType};
///
/// /// The priority that a server runs its objects' calls at, which clients are to know.
/// #[derive(Clone, Debug, PartialEq, Eq)]
/// struct ServerPriority(u16);
///
/// impl PolicyType for ServerPriority {
///     const NUMBER: u32 = 0x4d59_0001;
///     const NAME: &'static str = "ServerPriority";
///     const LEVELS: PolicyLevels = PolicyLevels::POA;
///     const CODEC: Option<PolicyCodec<Self>> = Some(PolicyCodec {
///         write: |value, out| {
///             out.put_u16(value.0);
///             Ok(())
///         },
///         read: |input| input.get_u16().map(Self),
///     });
/// }
/// ```
pub trait PolicyType: Any + Clone + fmt::Debug + Eq + Send + Sync {
    /// Number of the type (CORBA's PolicyType), unique within the ORB. The OMG's types have small
    /// numbers; vendors' numbers begin with the vendor's id.
    const NUMBER: u32;

    /// Name of the policy type, for use in error messages.
    const NAME: &'static str;

    /// Levels at which policies of the type may be set; at other levels they are refused with
    /// INV_POLICY.
    const LEVELS: PolicyLevels;

    /// Encoding of values in references (TAG_POLICIES). With a codec, a policy that a POA has is
    /// published in its references; without one (the default) it is not.
    const CODEC: Option<PolicyCodec<Self>> = None;

    /// True if the policy takes effect around the upcalls of the POAs that have it
    /// ([`crate::AroundUpcalls`]). An ORB without such a hook refuses to create a POA with it.
    const SURROUNDS_UPCALLS: bool = false;

    /// Returns the component that a POA's policy adds to all profiles of its references, if it adds one. By default it adds
    /// none.
    fn component(&self) -> Option<TaggedComponent> {
        None
    }

    /// Checks that a value is valid. Called when the policy is set.
    ///
    /// # Errors
    /// The reason, worded to follow `the policy … cannot be obeyed: `.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the value in effect if a client has set `outer` at one level and `inner` at a level
    /// that takes precedence. It is `inner`, unless the type overrides this function.
    ///
    /// # Errors
    /// The reason why the values contradict each other: calls fail with INV_POLICY.
    fn merge(outer: &Self, inner: &Self) -> Result<Self, String> {
        let _ = outer;
        Ok(inner.clone())
    }

    /// Returns the value in effect if a reference publishes one value and the client has set
    /// another. Unless the type overrides this function, the two must be equal. Not called if only
    /// one of them is set: that one is in effect.
    ///
    /// # Errors
    /// The reason why the values contradict each other: calls fail with INV_POLICY.
    fn reconcile(client: &Self, published: &Self) -> Result<Self, String> {
        if client == published {
            return Ok(client.clone());
        }
        Err(format!(
            "the client asks for {client:?}, and the server has {published:?}"
        ))
    }
}

/// Codec for the values of a policy type in references, where they are in an encapsulation.
#[derive(Clone, Copy, Debug)]
pub struct PolicyCodec<P> {
    /// Function that marshals a value of the policy.
    pub write: fn(&P, &mut Encoder<'_>) -> Result<(), CdrError>,
    /// Reads a value, which may come from a peer; an invalid value is an error.
    pub read: fn(&mut Decoder<'_>) -> Result<P, CdrError>,
}

impl<P: Marshal + Unmarshal> PolicyCodec<P> {
    /// Returns the codec of a type that implements [`Marshal`] and [`Unmarshal`], as IDL types do.
    #[must_use]
    pub const fn marshaled() -> Self {
        Self {
            write: P::marshal,
            read: P::unmarshal,
        }
    }
}

/// Set of levels at which policies of a type may be set; sets are joined by `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyLevels(u8);

impl PolicyLevels {
    /// Level of an ORB's policies ([`crate::PolicyManager`]), which apply to all calls through the
    /// ORB.
    pub const ORB: Self = Self(1);
    /// Level of a thread's policies ([`crate::PolicyCurrent`]).
    pub const THREAD: Self = Self(2);
    /// Level of the policies of one reference ([`crate::ObjectRef::set_policy_overrides`]).
    pub const REFERENCE: Self = Self(4);
    /// Level of a POA, set when it is created.
    pub const POA: Self = Self(8);
    /// Default for the POAs of an ORB: a POA created later has the policy, unless it is given
    /// another of this type.
    pub const POA_DEFAULT: Self = Self(16);
    /// All levels where clients set policies: an ORB, a thread, a reference.
    pub const CLIENT: Self = Self(1 | 2 | 4);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::ORB, "an ORB"),
        (Self::THREAD, "a thread"),
        (Self::REFERENCE, "a reference"),
        (Self::POA, "a POA"),
        (Self::POA_DEFAULT, "an ORB for its POAs"),
    ];

    /// Returns the union of both sets of levels.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set contains all levels of `others`.
    #[must_use]
    pub const fn contain(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl BitOr for PolicyLevels {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

/// Shows the names of the levels: `an ORB, a POA`.
impl fmt::Display for PolicyLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(level, _)| self.contain(*level));
        for (index, (_, name)) in names.enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_shown_by_their_names() {
        let both = PolicyLevels::ORB | PolicyLevels::POA;
        assert_eq!(both.to_string(), "an ORB, a POA");
        assert!(both.contain(PolicyLevels::POA));
        assert!(!both.contain(PolicyLevels::CLIENT));
        let client = PolicyLevels::CLIENT.to_string();
        assert_eq!(client, "an ORB, a thread, a reference");
    }
}
