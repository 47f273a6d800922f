//! What Real-time CORBA says of lanes and of where calls go. Asked of whoever knows its policies and the machine's
//! native priorities: `punctual_rt`.

use crate::config::RealTimeSettings;
use crate::exception::SystemException;
use crate::fixed_context::CallPolicies;
use crate::policy::{AdapterPolicies, UnmetPolicies};
use crate::priority::Priority;
use punctual_exec::ThreadSpec;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// What an ORB asks whose endpoints and calls have priorities ([`crate::OrbBuilder::priorities`]).
pub trait Priorities: Send + Sync + Debug {
    /// Whether what is configured of Real-time CORBA is what it has. Asked once, when the ORB starts, if anything is.
    ///
    /// # Errors
    /// Which setting is another.
    fn check(&self, settings: &RealTimeSettings) -> Result<(), String>;

    /// How threads of a lane of this priority are started: as `thread` says, and scheduled.
    ///
    /// # Errors
    /// Why there are none.
    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String>;

    /// How threads are started that have no priority: as `thread` says, and scheduled, whoever starts them.
    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec;

    /// Has the calling thread run at a priority; what [`Priorities::run_again_at`] is given.
    ///
    /// # Errors
    /// What the machine refuses.
    fn run_at(&self, priority: Priority) -> Result<u64, SystemException>;

    /// Has it run again as it did before.
    fn run_again_at(&self, before: u64);

    /// At which priorities the objects of an adapter with these policies are served.
    fn served_at(&self, policies: &AdapterPolicies) -> ServedAt;

    /// The thread pool whose lanes serve the objects of an adapter with these policies.
    fn pool(&self, policies: &AdapterPolicies) -> Option<u32>;

    /// To which endpoints calls go that a thread of this priority makes under these policies; asked when a reference is
    /// called for the first time, and again when policies have changed.
    ///
    /// # Errors
    /// Which of the policies allow none, and why.
    fn destination(
        &self,
        policies: CallPolicies<'_>,
        thread: Option<Priority>,
    ) -> Result<Destination, UnmetPolicies>;

    /// Whether a thread in a scheduling segment ([`crate::set_in_segment`]) may make a call, or go on behind one, which raised
    /// this if it raised anything. Asked before and behind each of its calls by wire, and of no other thread.
    ///
    /// # Errors
    /// THREAD_CANCELLED where it is to go no further.
    fn scheduling_point(&self, raised: Option<&SystemException>) -> Result<(), SystemException>;

    /// Whether calls under these policies share no connection with those through other references.
    fn is_private(&self, policies: CallPolicies<'_>) -> bool;

    /// The data of the service context RTCorbaPriorityRange, by which the server is told a connection's band.
    fn range(&self, band: &RangeInclusive<Priority>) -> Vec<u8>;

    /// Takes a connection in whose client asks for a band of priorities, by this data of RTCorbaPriorityRange: the
    /// priorities of the requests that are to come by it.
    ///
    /// # Errors
    /// Why this server cannot serve it.
    fn band(&self, range: Option<&[u8]>) -> Result<RangeInclusive<Priority>, SystemException>;

    /// Has the calling thread, which serves one connection, wait for its requests at this priority.
    fn read_at(&self, priority: Priority);

    /// The calling thread serves no longer at the priority that it was given by [`Priorities::read_at`], if it was given
    /// one, but at that which it had before.
    fn read_as_before(&self);
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
    Within {
        /// The priorities.
        priorities: RangeInclusive<Priority>,
        /// The type of the policy that says so.
        policy: u32,
    },
    /// To those whose priority is one of these; where there are none, to those without a priority, by a connection for
    /// these priorities alone, of which the server is told (`_bind_priority_band`).
    Band(RangeInclusive<Priority>),
}

impl Destination {
    /// The band of the connection by which calls go to an endpoint, which has a priority or none.
    pub(crate) fn band_to(self, priority: Option<Priority>) -> Option<RangeInclusive<Priority>> {
        match self {
            Self::Band(band) if priority.is_none() => Some(band),
            _ => None,
        }
    }
}

/// The implicit operation by which a server is told of a connection's band (Real-time CORBA 1.2, §5.12.3): a request
/// without arguments or results, with the service context RTCorbaPriorityRange, that no servant sees.
pub(crate) const BIND_PRIORITY_BAND: &str = "_bind_priority_band";
