//! The policies of an adapter (CORBA 3.3 part 1, §15.3.8), and how it finds objects and operations.

mod checked;
#[cfg(feature = "comparison")]
mod comparison;

pub(crate) use checked::{Conflict, Policies, defined};
#[cfg(feature = "comparison")]
pub use comparison::{Demultiplexing, OperationDemultiplexing};

use punctual_orb::{Policy, PolicyType};
use std::time::Duration;

/// One policy, for [`crate::Poa::create_poa`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoaPolicy {
    /// Which threads make upcalls.
    Thread(ThreadPolicy),
    /// Whether references outlive the process.
    Lifespan(LifespanPolicy),
    /// Whether a servant may incarnate several objects.
    IdUniqueness(IdUniquenessPolicy),
    /// Who chooses object ids.
    IdAssignment(IdAssignmentPolicy),
    /// Whether a servant is activated by asking for its reference.
    ImplicitActivation(ImplicitActivationPolicy),
    /// Whether the adapter keeps an active object map.
    ServantRetention(ServantRetentionPolicy),
    /// What serves a request whose object is not in the map.
    RequestProcessing(RequestProcessingPolicy),
    /// How an object is found. Not of the standard.
    #[cfg(feature = "comparison")]
    Demultiplexing(Demultiplexing),
    /// How an operation is found. Not of the standard.
    #[cfg(feature = "comparison")]
    OperationDemultiplexing(OperationDemultiplexing),
    /// How long a servant that answers later may take. Not of the standard.
    AnswerTimeout(AnswerTimeoutPolicy),
    /// A policy of a type that the ORB was told of, which POAs may have ([`punctual_orb::PolicyType`]).
    Defined(Policy),
}

impl PoaPolicy {
    /// A policy of a type that the ORB was told of.
    #[must_use]
    pub fn of<P: PolicyType>(value: P) -> Self {
        Self::Defined(Policy::of(value))
    }
}

/// Which threads make upcalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadPolicy {
    /// Those of the ORB, several at once.
    #[default]
    OrbControl,
    /// One at a time; an upcall of the adapter's may be made from within another.
    SingleThread,
    /// The thread that runs the ORB ([`punctual_orb::Orb::run`]), one at a time with all adapters of this
    /// kind.
    MainThread,
}

/// Whether references outlive the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LifespanPolicy {
    /// They are over when the adapter is.
    #[default]
    Transient,
    /// They hold as long as some process makes an adapter of the same name at the same endpoint.
    Persistent,
}

/// Whether a servant may incarnate several objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdUniquenessPolicy {
    /// It may not.
    #[default]
    Unique,
    /// It may.
    Multiple,
}

/// Who chooses object ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdAssignmentPolicy {
    /// The application.
    User,
    /// The adapter.
    #[default]
    System,
}

/// Whether a servant is activated by asking for its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImplicitActivationPolicy {
    /// It is.
    Implicit,
    /// It is not.
    #[default]
    NoImplicit,
}

/// Whether the adapter keeps an active object map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServantRetentionPolicy {
    /// It does.
    #[default]
    Retain,
    /// It finds a servant anew for each request.
    NonRetain,
}

/// What serves a request whose object is not in the active object map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestProcessingPolicy {
    /// Nothing: OBJECT_NOT_EXIST.
    #[default]
    ActiveObjectMapOnly,
    /// One servant for all of them.
    DefaultServant,
    /// What a servant manager provides: an activator's with [`ServantRetentionPolicy::Retain`], a
    /// locator's without.
    ServantManager,
}

/// How long a servant that answers later ([`crate::Response`]) may keep a request that came by wire, before its client is told
/// TIMEOUT in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerTimeoutPolicy {
    /// As the ORB has it (`timeouts.answer`).
    #[default]
    OfOrb,
    /// That long.
    After(Duration),
    /// As long as it likes.
    Never,
}
