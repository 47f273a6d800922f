//! Policies of an adapter (CORBA 3.3 part 1, §15.3.8), and its demultiplexing strategies.

mod checked;

pub(crate) use checked::{Conflict, Policies, defined};

use crate::object_id::ObjectId;
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
    /// Search of an object. Not in the standard.
    Demultiplexing(Demultiplexing),
    /// Search of an operation. Not in the standard.
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
    /// The adapter finds a servant anew for each request.
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

/// Search of an object by its key (Gokhale and Schmidt 1998, §3.5 and §5.3). All strategies tell
/// stale and forged keys from live ones; they differ in the cost of a lookup, and on what that
/// depends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demultiplexing {
    /// Index in the map that the key names: a few instructions, whatever the number of objects. An
    /// id without a key of this process is hashed.
    #[default]
    Active,
    /// Linear search. For comparison.
    Linear,
    /// Hash table that grows and shrinks.
    DynamicHash,
    /// Hash table without collisions over these ids, which are the only ones allowed.
    PerfectHash(Vec<ObjectId>),
    /// Object and operation in one step, by a hash of both.
    DeLayered,
}

/// Search of an operation by its name. All but [`OperationDemultiplexing::Compiled`] are for
/// comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationDemultiplexing {
    /// Search that the IDL compiler generates, which is perfect, as it knows all names.
    #[default]
    Compiled,
    /// Linear search.
    Linear,
    /// Hash table that is made when the adapter first serves an interface.
    DynamicHash,
}
