//! Policies of an adapter (CORBA 3.3 part 1, §15.3.8), and its demultiplexing strategies.

mod checked;
#[cfg(feature = "comparison")]
mod comparison;

pub(crate) use checked::{Conflict, Policies, defined};
#[cfg(feature = "comparison")]
pub use comparison::{Demultiplexing, OperationDemultiplexing};

use punctual_orb::{Policy, PolicyType};
use std::time::Duration;

/// Policy that is passed to [`crate::Poa::create_poa`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoaPolicy {
    /// Threads that make upcalls to the POA's servants.
    Thread(ThreadPolicy),
    /// Lifetime of the references that the POA creates.
    Lifespan(LifespanPolicy),
    /// Number of objects that a servant may incarnate.
    IdUniqueness(IdUniquenessPolicy),
    /// Assignment of object ids: by the adapter or by the application.
    IdAssignment(IdAssignmentPolicy),
    /// Implicit activation: whether asking for a servant's reference activates the servant.
    ImplicitActivation(ImplicitActivationPolicy),
    /// Use of an active object map by the POA.
    ServantRetention(ServantRetentionPolicy),
    /// Treatment of requests whose object is not in the map.
    RequestProcessing(RequestProcessingPolicy),
    /// Strategy by which the POA finds objects. An extension of Punctual.
    #[cfg(feature = "comparison")]
    Demultiplexing(Demultiplexing),
    /// Strategy by which the POA finds operations. An extension of Punctual.
    #[cfg(feature = "comparison")]
    OperationDemultiplexing(OperationDemultiplexing),
    /// Time limit of a servant that answers later. Not in the standard.
    AnswerTimeout(AnswerTimeoutPolicy),
    /// Policy of a type that was registered with the ORB for POAs ([`punctual_orb::PolicyType`]).
    Defined(Policy),
}

impl PoaPolicy {
    /// Makes a POA policy of a type that was registered with the ORB.
    #[must_use]
    pub fn of<P: PolicyType>(value: P) -> Self {
        Self::Defined(Policy::of(value))
    }
}

/// Threads that make upcalls to the POA's servants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadPolicy {
    /// Threads of the ORB, several of which may make upcalls at once.
    #[default]
    OrbControl,
    /// One thread at a time; during an upcall, the adapter's objects may be called again by that
    /// thread.
    SingleThread,
    /// The thread that runs the ORB ([`punctual_orb::Orb::run`]), one upcall at a time for all
    /// adapters of this kind.
    MainThread,
}

/// Lifetime of the references that the POA creates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LifespanPolicy {
    /// References become invalid when their POA is destroyed.
    #[default]
    Transient,
    /// References stay valid as long as some process makes an adapter with the same name at the
    /// same endpoint.
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

/// Assignment of object ids: by the adapter or by the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdAssignmentPolicy {
    /// The application chooses the object ids.
    User,
    /// The POA chooses the object ids.
    #[default]
    System,
}

/// Implicit activation: whether asking for a servant's reference activates the servant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImplicitActivationPolicy {
    /// Asking for the reference of an inactive servant activates it.
    Implicit,
    /// Asking for the reference of an inactive servant does not activate it.
    #[default]
    NoImplicit,
}

/// Use of an active object map by the POA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServantRetentionPolicy {
    /// The adapter keeps active objects and their servants in a map.
    #[default]
    Retain,
    /// The adapter finds a servant for each request separately.
    NonRetain,
}

/// Treatment of requests whose object is not in the active object map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestProcessingPolicy {
    /// Requests for objects that are not active are refused with OBJECT_NOT_EXIST.
    #[default]
    ActiveObjectMapOnly,
    /// One default servant serves all objects that are not in the active object map.
    DefaultServant,
    /// A servant manager provides the servants: an activator with
    /// [`ServantRetentionPolicy::Retain`], a locator without.
    ServantManager,
}

/// Time for which a servant that answers later ([`crate::Response`]) may keep a request that came
/// by wire, before its client gets TIMEOUT instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerTimeoutPolicy {
    /// The time limit is the ORB's setting `timeouts.answer`.
    #[default]
    OfOrb,
    /// This time limit, for the servants of the adapter.
    After(Duration),
    /// Servants have no time limit for their answers.
    Never,
}
