//! Policies: how a client wants its calls made (CORBA 3.3 part 1, §8.9; Messaging, §17.3; paper 000's
//! policy control component), and what a server publishes for its objects.
//!
//! They are set for a whole ORB ([`PolicyManager`]), for a thread ([`PolicyCurrent`]), and for a
//! reference ([`crate::ObjectRef::set_policy_overrides`]), which is also how one call gets its own. The
//! innermost that says something about a matter holds. What holds for a reference is computed once
//! ([`effective`]) and kept under an epoch, which each change of the outer levels ends.
//!
//! Which types there are says a table that each ORB has ([`types`]): those of [`builtin`], and those that
//! an application or another crate adds ([`PolicyType`]). A type says at which levels it may be set, how
//! two values merge, and how a value travels in references; nothing else here knows one of those added.
//! What calls look at is read from plain fields of [`Effective`], never from the table.

mod adapter;
mod buffering;
mod builtin;
mod current;
mod defined;
mod effective;
mod manager;
mod policy_type;
mod set;
mod types;
mod values;

pub use adapter::{AdapterPolicies, InvalidPolicy};
pub use buffering::Buffering;
pub use current::PolicyCurrent;
pub(crate) use current::has_own;
pub use defined::DefinedPolicy;
pub(crate) use effective::{Defaults, Effective};
pub use manager::PolicyManager;
pub(crate) use manager::{KnownProtocols, Managed};
pub use policy_type::{PolicyCodec, PolicyLevels, PolicyType};
pub(crate) use set::PolicySet;
pub use set::SetOverride;
pub use types::PolicyTypeTaken;
pub(crate) use types::PolicyTypes;
pub use values::{ClientProtocols, Collocation, LinkProperty, Mux, Otherwise, Transfer, Wait};

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use std::time::Duration;

/// One wish.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// How long a call may take from its start to its reply: the Messaging policy
    /// RELATIVE_RT_TIMEOUT_POLICY_TYPE (32).
    RelativeRoundtripTimeout(Duration),
    /// Which protocols, and in which order: Real-time CORBA's ClientProtocolPolicy (43).
    ClientProtocols(ClientProtocols),
    /// How large runs of octets travel where memory is shared with the server.
    Transfer(Transfer),
    /// Whether calls share connections.
    Mux(Mux),
    /// How calls wait for their replies.
    Wait(Wait),
    /// How calls on objects of this process go.
    Collocation(Collocation),
    /// A property of connections of one link, e.g. `no_delay` of `iiop` or `spin_us` of `shmiop`. Other
    /// links take no notice.
    LinkProperty(LinkProperty),
    /// A policy of a type that was added to the ORB ([`crate::OrbBuilder::policy_type`]), made by
    /// [`Policy::of`].
    Defined(DefinedPolicy),
}

impl Policy {
    /// The type's number: the standard's, or one in Punctual's own range.
    #[must_use]
    pub fn policy_type(&self) -> u32 {
        match self {
            Self::RelativeRoundtripTimeout(_) => builtin::RELATIVE_ROUNDTRIP_TIMEOUT,
            Self::ClientProtocols(_) => builtin::CLIENT_PROTOCOLS,
            Self::Transfer(_) => builtin::TRANSFER,
            Self::LinkProperty(_) => builtin::LINK_PROPERTY,
            Self::Mux(_) => builtin::MUX,
            Self::Wait(_) => builtin::WAIT,
            Self::Collocation(_) => builtin::COLLOCATION,
            Self::Defined(defined) => defined.policy_type(),
        }
    }

    /// A policy of a type that the ORB was told of.
    #[must_use]
    pub fn of<P: PolicyType>(value: P) -> Self {
        Self::Defined(DefinedPolicy::new(value))
    }

    /// The value of a policy of such a type; `None` of every other.
    #[must_use]
    pub fn value<P: PolicyType>(&self) -> Option<&P> {
        match self {
            Self::Defined(defined) => defined.value(),
            _ => None,
        }
    }

    /// Calls by these protocols only, in this order.
    #[must_use]
    pub fn protocols<S: AsRef<str>>(preferred: &[S], otherwise: Otherwise) -> Self {
        let preferred = preferred.iter().map(|name| name.as_ref().to_owned());
        Self::ClientProtocols(ClientProtocols {
            preferred: preferred.collect(),
            otherwise,
        })
    }

    /// A property of one link's connections.
    #[must_use]
    pub fn link_property(link: &str, name: &str, value: impl ToString) -> Self {
        Self::LinkProperty(LinkProperty {
            link: link.to_owned(),
            name: name.to_owned(),
            value: value.to_string(),
        })
    }

    /// How long a waiter on a shared-memory connection spins before it sleeps; zero never spins.
    #[must_use]
    pub fn spin(budget: Duration) -> Self {
        Self::link_property("shmiop", "spin_us", budget.as_micros())
    }
}

/// Policies that cannot be obeyed.
pub(crate) fn invalid(detail: impl Into<std::borrow::Cow<'static, str>>) -> SystemException {
    SystemException::new(
        Kind::InvPolicy,
        minor::CANNOT_RECONCILE,
        CompletionStatus::No,
    )
    .with_detail(detail.into())
}
