//! Policies of an adapter (CORBA 3.3 part 1, §15.3.8), and its demultiplexing strategies.

mod checked;
#[cfg(feature = "comparison")]
mod comparison;

pub(crate) use checked::{Conflict, Policies, defined};
#[cfg(feature = "comparison")]
pub use comparison::{Demultiplexing, OperationDemultiplexing};

use punctual_orb::{Policy, PolicyType};
use std::time::Duration;

/// Policy for [`crate::Poa::create_poa`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoaPolicy {
    /// Threads that make upcalls.
    Thread(ThreadPolicy),
    /// Lifetime of references.
    Lifespan(LifespanPolicy),
    /// Number of objects that a servant may incarnate.
    IdUniqueness(IdUniquenessPolicy),
    /// Assigner of object ids.
    IdAssignment(IdAssignmentPolicy),
    /// Activation of a servant by asking for its reference.
    ImplicitActivation(ImplicitActivationPolicy),
    /// Use of an active object map.
    ServantRetention(ServantRetentionPolicy),
    /// Treatment of requests whose object is not in the map.
    RequestProcessing(RequestProcessingPolicy),
    /// Search strategy for objects. Not in the standard.
    #[cfg(feature = "comparison")]
    Demultiplexing(Demultiplexing),
    /// Search strategy for operations. Not in the standard.
    #[cfg(feature = "comparison")]
    OperationDemultiplexing(OperationDemultiplexing),
    /// Time limit of a servant that answers later. Not in the standard.
    AnswerTimeout(AnswerTimeoutPolicy),
    /// Policy of a registered type that POAs may have ([`punctual_orb::PolicyType`]).
    Defined(Policy),
}

impl PoaPolicy {
    /// Makes a policy of a registered type.
    #[must_use]
    pub fn of<P: PolicyType>(value: P) -> Self {
        Self::Defined(Policy::of(value))
    }
}

/// Threads that make upcalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadPolicy {
    /// Threads of the ORB, several at once.
    #[default]
    OrbControl,
    /// One thread at a time; an upcall of the adapter may be made from within another.
    SingleThread,
    /// The thread that runs the ORB ([`punctual_orb::Orb::run`]), one upcall at a time for all
    /// adapters of this kind.
    MainThread,
}

/// Lifetime of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LifespanPolicy {
    /// References end with the adapter.
    #[default]
    Transient,
    /// References stay valid as long as some process makes an adapter of the same name at the same
    /// endpoint.
    Persistent,
}

/// Number of objects that a servant may incarnate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdUniquenessPolicy {
    /// A servant incarnates one object at most.
    #[default]
    Unique,
    /// A servant may incarnate several objects.
    Multiple,
}

/// Assigner of object ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdAssignmentPolicy {
    /// The application chooses ids.
    User,
    /// The adapter chooses ids.
    #[default]
    System,
}

/// Activation of a servant by asking for its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImplicitActivationPolicy {
    /// Servants are activated.
    Implicit,
    /// Servants are not activated.
    #[default]
    NoImplicit,
}

/// Use of an active object map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServantRetentionPolicy {
    /// The adapter keeps a map.
    #[default]
    Retain,
    /// The adapter finds a servant for each request separately.
    NonRetain,
}

/// Treatment of requests whose object is not in the active object map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestProcessingPolicy {
    /// Refusal with OBJECT_NOT_EXIST.
    #[default]
    ActiveObjectMapOnly,
    /// One servant for all of them.
    DefaultServant,
    /// Servants of a servant manager: an activator's with [`ServantRetentionPolicy::Retain`], a
    /// locator's without.
    ServantManager,
}

/// Time for which a servant that answers later ([`crate::Response`]) may keep a request that came
/// by wire, before its client gets TIMEOUT instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerTimeoutPolicy {
    /// Time of the ORB (`timeouts.answer`).
    #[default]
    OfOrb,
    /// Time of the adapter's own.
    After(Duration),
    /// Servants have no time limit.
    Never,
}
