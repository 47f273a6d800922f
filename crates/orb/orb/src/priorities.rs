//! Decisions of Real-time CORBA on lanes and on the destinations of calls. They are made by the
//! component that knows its policies and the machine's native priorities: `punctual_rt`.

use crate::config::RealTimeSettings;
use crate::exception::SystemException;
use crate::fixed_context::CallPolicies;
use crate::policy::{AdapterPolicies, UnmetPolicies};
use crate::priority::Priority;
use punctual_exec::ThreadSpec;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// Decisions for an ORB whose endpoints and calls have priorities
/// ([`crate::OrbBuilder::priorities`]).
pub trait Priorities: Send + Sync + Debug {
    /// Checks that the configuration of Real-time CORBA equals its own settings. Called once, when
    /// the ORB starts, if anything is configured.
    ///
    /// # Errors
    /// The setting that differs.
    fn check(&self, settings: &RealTimeSettings) -> Result<(), String>;

    /// Returns how threads of a lane of this priority are started: as `thread` says, and scheduled.
    ///
    /// # Errors
    /// The reason why there can be none.
    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String>;

    /// Returns how threads without a priority are started: as `thread` says, and scheduled
    /// independently of the thread that starts them.
    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec;

    /// Makes the calling thread run at a priority. Returns the value for
    /// [`Priorities::run_again_at`].
    ///
    /// # Errors
    /// The operating system's refusal.
    fn run_at(&self, priority: Priority) -> Result<u64, SystemException>;

    /// Makes the calling thread run again as it did before.
    fn run_again_at(&self, before: u64);

    /// Returns the priorities at which the objects of an adapter with these policies are served.
    fn served_at(&self, policies: &AdapterPolicies) -> ServedAt;

    /// Returns the thread pool whose lanes serve the objects of an adapter with these policies.
    fn pool(&self, policies: &AdapterPolicies) -> Option<u32>;

    /// Returns the endpoints for calls that a thread of this priority makes under these policies.
    /// Called when a reference is called for the first time, and again when policies have changed.
    ///
    /// # Errors
    /// The policies that allow none, with the reason.
    fn destination(
        &self,
        policies: CallPolicies<'_>,
        thread: Option<Priority>,
    ) -> Result<Destination, UnmetPolicies>;

    /// Checks whether a thread in a scheduling segment ([`crate::set_in_segment`]) may make a call,
    /// or go on behind one, which raised `raised` if it raised anything. Called before and behind
    /// each of its calls by wire, and for no other thread.
    ///
    /// # Errors
    /// THREAD_CANCELLED if it must not go on.
    fn scheduling_point(&self, raised: Option<&SystemException>) -> Result<(), SystemException>;

    /// Returns whether calls under these policies share no connection with those through other
    /// references.
    fn is_private(&self, policies: CallPolicies<'_>) -> bool;

    /// Returns the data of the service context RTCorbaPriorityRange, which announces a connection's
    /// band to the server.
    fn range(&self, band: &RangeInclusive<Priority>) -> Vec<u8>;

    /// Accepts a connection whose client asks for a band of priorities, by this data of
    /// RTCorbaPriorityRange. Returns the priorities of the requests that are to come by it.
    ///
    /// # Errors
    /// The reason why this server cannot serve it.
    fn band(&self, range: Option<&[u8]>) -> Result<RangeInclusive<Priority>, SystemException>;

    /// Makes the calling thread, which serves one connection, wait for its requests at this
    /// priority.
    fn read_at(&self, priority: Priority);

    /// Restores the priority that the calling thread had before [`Priorities::read_at`], if that
    /// was called.
    fn read_as_before(&self);
}

/// Priorities at which an adapter's objects are served, and so the endpoints that their references
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedAt {
    /// No particular priority: the endpoints without a priority, or all where each has one.
    Any,
    /// One priority: the endpoints of this priority, or, where there are none, those without.
    One(Priority),
    /// The client's priority: all endpoints.
    Clients,
}

/// Endpoints to which calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Any endpoint, in the order of the reference.
    Any,
    /// Endpoints of this priority first, then those without one, then others, the nearest first.
    Nearest(Priority),
    /// Only endpoints whose priority is in a range.
    Within {
        /// The priorities.
        priorities: RangeInclusive<Priority>,
        /// Type of the policy that demands it.
        policy: u32,
    },
    /// Endpoints whose priority is one of these; where there are none, those without a priority, by
    /// a connection for these priorities alone, which is announced to the server
    /// (`_bind_priority_band`).
    Band(RangeInclusive<Priority>),
}

impl Destination {
    /// Returns the band of the connection to an endpoint of this priority, if the connection needs
    /// one.
    pub(crate) fn band_to(self, priority: Option<Priority>) -> Option<RangeInclusive<Priority>> {
        match self {
            Self::Band(band) if priority.is_none() => Some(band),
            _ => None,
        }
    }
}

/// Implicit operation that announces a connection's band to the server (Real-time CORBA 1.2,
/// §5.12.3): a request without arguments or results, with the service context RTCorbaPriorityRange,
/// that no servant sees.
pub(crate) const BIND_PRIORITY_BAND: &str = "_bind_priority_band";
