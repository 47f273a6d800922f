//! Decisions of Real-time CORBA about lanes and the destinations of calls, made by the component
//! that knows its policies and the machine's native priorities: `punctual_rt`.

use crate::config::{NetworkDirection, RealTimeSettings};
use crate::exception::SystemException;
use crate::fixed_context::CallPolicies;
use crate::policy::{AdapterPolicies, UnmetPolicies};
use crate::priority::Priority;
use punctual_exec::ThreadSpec;
use punctual_sys::dscp::Dscp;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// Interface that decides for an ORB whose endpoints and calls have priorities
/// ([`crate::OrbBuilder::priorities`]).
pub trait Priorities: Send + Sync + Debug {
    /// Checks that the configuration of Real-time CORBA equals its own settings. Called once, when
    /// the ORB starts, if anything is configured.
    ///
    /// # Errors
    /// The setting that differs.
    fn check(&self, settings: &RealTimeSettings) -> Result<(), String>;

    /// Returns the specification of threads of a lane with this priority: `thread` with the
    /// scheduling that belongs to the priority.
    ///
    /// # Errors
    /// The reason why there can be no such threads.
    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String>;

    /// Returns the specification of threads without a priority: `thread` with a scheduling that is
    /// independent of the thread that starts them.
    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec;

    /// Makes the calling thread run at a priority. Returns the previous state, to be passed to
    /// [`Priorities::run_again_at`].
    ///
    /// # Errors
    /// If the operating system refuses the priority.
    fn run_at(&self, priority: Priority) -> Result<u64, SystemException>;

    /// Restores the previous scheduling of the calling thread, as returned by
    /// [`Priorities::run_at`].
    fn run_again_at(&self, before: u64);

    /// Returns the priorities at which the objects of an adapter with these policies are served.
    fn served_at(&self, policies: &AdapterPolicies) -> ServedAt;

    /// Returns the thread pool whose lanes serve the objects of an adapter with these policies.
    fn pool(&self, policies: &AdapterPolicies) -> Option<u32>;

    /// Returns the endpoints for calls that a thread of this priority makes under these policies.
    /// Called when a reference is called for the first time, and again when policies have changed.
    ///
    /// # Errors
    /// The policies that allow no endpoint, with the reason.
    fn destination(
        &self,
        policies: CallPolicies<'_>,
        thread: Option<Priority>,
    ) -> Result<Destination, UnmetPolicies>;

    /// Checks whether the calling thread, which is in a scheduling segment
    /// ([`crate::set_in_segment`]), may make a call, or continue after one; `raised` is the
    /// exception of that call, if any. Called before and after each remote call of such a thread,
    /// and not for other threads.
    ///
    /// # Errors
    /// THREAD_CANCELLED if it must not continue.
    fn scheduling_point(&self, raised: Option<&SystemException>) -> Result<(), SystemException>;

    /// Returns whether calls under these policies need a private connection, which calls through
    /// other references do not share.
    fn is_private(&self, policies: CallPolicies<'_>) -> bool;

    /// Returns the data of the service context RTCorbaPriorityRange, which announces a connection's
    /// priority band to the server.
    fn range(&self, band: &RangeInclusive<Priority>) -> Vec<u8>;

    /// Accepts a priority band that a client announces for its connection by the given data of
    /// RTCorbaPriorityRange. Returns the priorities of the requests that will arrive over the
    /// connection.
    ///
    /// # Errors
    /// The reason why this server cannot serve the band.
    fn band(&self, range: Option<&[u8]>) -> Result<RangeInclusive<Priority>, SystemException>;

    /// Returns the DSCP of the packets of a connection whose messages have this priority; `None` gives them
    /// the one with which it was opened, and is the default. Called when a connection is opened or accepted, and when its band is announced.
    fn dscp(&self, priority: Priority, direction: NetworkDirection) -> Option<Dscp> {
        let _ = (priority, direction);
        None
    }

    /// Makes the calling thread, which serves one connection, wait for its requests at this
    /// priority.
    fn read_at(&self, priority: Priority);

    /// Restores the priority that the calling thread had before [`Priorities::read_at`], if that
    /// was called.
    fn read_as_before(&self);
}

/// Priorities at which an adapter's objects are served, which determine the endpoints in their
/// references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedAt {
    /// No particular priority: the endpoints without a priority, or all endpoints if each has one.
    Any,
    /// One priority: the endpoints with this priority or, if there are none, those without a
    /// priority.
    One(Priority),
    /// Priority of the client: references contain all endpoints.
    Clients,
}

/// Selection of the endpoints in a reference to which a call may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Any endpoint, in the order given in the reference.
    Any,
    /// Endpoints with this priority first, then those without a priority, then the others in order
    /// of distance.
    Nearest(Priority),
    /// Only endpoints whose priority is in the given range.
    Within {
        /// Range of permitted CORBA priorities.
        priorities: RangeInclusive<Priority>,
        /// Type of the policy that demands this range of priorities.
        policy: u32,
    },
    /// Endpoints whose priority is in this band or, if there are none, those without a priority,
    /// over a connection used only for these priorities and announced to the server
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
/// which the ORB answers itself.
pub(crate) const BIND_PRIORITY_BAND: &str = "_bind_priority_band";
