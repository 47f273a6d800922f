//! Policies: how a client wants its calls made (CORBA 3.3 part 1, §8.9; Messaging, §17.3; paper 000's
//! policy control component).
//!
//! They are set for a whole ORB ([`PolicyManager`]), for a thread ([`PolicyCurrent`]), and for a
//! reference ([`crate::ObjectRef::set_policy_overrides`]), which is also how one call gets its own. The
//! innermost that says something about a matter holds. What holds for a reference is computed once
//! ([`effective`]) and kept under an epoch, which each change of the outer levels ends.

mod buffering;
mod current;
mod effective;
mod manager;
mod set;

pub use buffering::Buffering;
pub use current::PolicyCurrent;
pub(crate) use current::has_own;
pub(crate) use effective::Effective;
pub(crate) use manager::Managed;
pub use manager::PolicyManager;
pub(crate) use set::PolicySet;
pub use set::SetOverride;

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
}

/// Protocols that a call may go out by, the first that a reference offers and that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProtocols {
    /// In order of preference, e.g. `shmiop`, `uiop`, `iiop`.
    pub preferred: Vec<String>,
    /// What happens when a reference offers none of them, or none can be reached.
    pub otherwise: Otherwise,
}

/// What happens when a preference cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The call fails with INV_POLICY.
    #[default]
    Raise,
    /// Another protocol of the reference is taken, in the order of its profiles.
    Choose,
}

/// How large runs of octets and primitive values travel where memory is shared (paper 000, §3.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In lent buffers, where the link has some and the run is long enough for it: without a copy from a
    /// [`punctual_link::Loan`], with one otherwise.
    #[default]
    Lend,
    /// Always through the connection's ring, like small values.
    Copy,
}

/// Whether calls to one endpoint share a connection (paper 002, §3.1: the transport mux strategies).
///
/// Changed while calls are made, it holds for those that begin afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mux {
    /// All share one, and whoever waits reads for the others.
    #[default]
    Shared,
    /// No two at once: as many connections as there are calls at one time, kept for the next ones.
    Exclusive,
}

/// How a call waits for its reply (paper 002, §3.1: the wait strategies).
///
/// It is its connection's: calls that wait in different ways share none. Links that cannot be received
/// from without blocking know only [`Wait::Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wait {
    /// The caller reads the connection; of several, one reads for all. Nothing is quicker. What the
    /// server calls back meanwhile is served by other threads, if there are any.
    #[default]
    Read,
    /// The caller serves the ORB's reactor, that of its reactive endpoints, until its reply has come:
    /// other calls come in meanwhile, one within the other (`max_nesting`).
    Reactor,
    /// As [`Wait::Reactor`], with the pool of the ORB's first endpoint that has one: the caller takes
    /// part in it where no thread of the pool is left, and sleeps otherwise.
    LeaderFollowers,
}

/// How stubs call objects of this process (paper 003: collocation).
///
/// A call that goes to its servant without a request takes as long as the servant does: time-outs do not end
/// it. What is passed is not marshaled, and so not checked against the bounds of IDL's strings and sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collocation {
    /// Through the object adapter, as requests go: its manager's state, its servant managers and Current are
    /// as over the wire.
    #[default]
    ThruPoa,
    /// To the servant that is active, past the adapter: it neither holds calls back nor counts them, and
    /// Current does not know them. Where no servant is active, through the adapter.
    Direct,
    /// By requests, as to any other process.
    None,
}

/// A property of one link's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProperty {
    /// The link's name.
    pub link: String,
    /// The property's.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Policy {
    /// The type's number: the standard's, or one in Punctual's own range.
    #[must_use]
    pub fn policy_type(&self) -> u32 {
        match self {
            Self::RelativeRoundtripTimeout(_) => 32,
            Self::ClientProtocols(_) => 43,
            Self::Transfer(_) => 0x5055_0001,
            Self::LinkProperty(_) => 0x5055_0002,
            Self::Mux(_) => 0x5055_0003,
            Self::Wait(_) => 0x5055_0004,
            Self::Collocation(_) => 0x5055_0005,
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
