//! What Real-time CORBA says of lanes and of where calls go. Asked of whoever knows its policies and the machine's
//! native priorities: `punctual_rt`.

use crate::exception::SystemException;
use crate::policy::AdapterPolicies;
use crate::priority::Priority;
use crate::request_context::CallPolicies;
use punctual_exec::ThreadSpec;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// What an ORB asks whose endpoints and calls have priorities ([`crate::OrbBuilder::priorities`]).
pub trait Priorities: Send + Sync + Debug {
    /// How threads of a lane of this priority are started: as `thread` says, and scheduled.
    ///
    /// # Errors
    /// Why there are none.
    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String>;

    /// How threads are started that have no priority: as `thread` says, and scheduled, whoever starts them.
    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec;

    /// At which priorities the objects of an adapter with these policies are served.
    fn served_at(&self, policies: &AdapterPolicies) -> ServedAt;

    /// The thread pool whose lanes serve the objects of an adapter with these policies.
    fn pool(&self, policies: &AdapterPolicies) -> Option<u32>;

    /// To which endpoints calls go that a thread of this priority makes under these policies; asked when a reference is
    /// called for the first time, and again when policies have changed.
    ///
    /// # Errors
    /// Why the policies allow none.
    fn destination(
        &self,
        policies: CallPolicies<'_>,
        thread: Option<Priority>,
    ) -> Result<Destination, String>;

    /// Whether a thread in a scheduling segment ([`crate::set_in_segment`]) may make a call, or go on behind one, which raised
    /// this if it raised anything. Asked before and behind each of its calls by wire, and of no other thread.
    ///
    /// # Errors
    /// THREAD_CANCELLED where it is to go no further.
    fn scheduling_point(&self, raised: Option<&SystemException>) -> Result<(), SystemException>;

    /// Whether calls under these policies share no connection with those through other references.
    fn is_private(&self, policies: CallPolicies<'_>) -> bool;
}

/// At which priorities an adapter's objects are served, and so which endpoints their references name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedAt {
    /// At none in particular: the endpoints without a priority, or all where each has one.
    Any,
    /// At this one: the endpoints of this priority, or, where there are none, those without.
    One(Priority),
    /// At the client's: all endpoints.
    Clients,
}

/// To which endpoints calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To any, as references name them.
    Any,
    /// To those of this priority first, then to those without one, then to others, the nearest first.
    Nearest(Priority),
    /// To those whose priority is one of these, and to no others.
    Within(RangeInclusive<Priority>),
    /// The same, but to those without a priority where there are none of these.
    WithinOrAny(RangeInclusive<Priority>),
}
