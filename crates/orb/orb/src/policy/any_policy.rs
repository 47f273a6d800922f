//! A single policy of any type.

use super::buffering::{BufferCapacity, Buffering};
use super::defined::DefinedPolicy;
use super::in_flight::CallsInFlight;
use super::numbers;
use super::policy_type::PolicyType;
use super::queue_order::{PriorityRange, QueueOrder};
use super::values::{
    Bidirectional, CharCodeSet, ClientProtocols, Collocation, LinkProperty, Mux, Otherwise, Rebind,
    Security, SyncScope, Transfer, Wait,
};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use std::time::{Duration, SystemTime};

/// A single policy: a setting for calls, which is set for an ORB, a thread, a reference or a POA.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Maximum time of a call from its start to its reply: the Messaging policy
    /// RELATIVE_RT_TIMEOUT_POLICY_TYPE (32).
    RelativeRoundtripTimeout(Duration),
    /// Latest delivery of a request, counted from the beginning of its call: the Messaging policy
    /// RELATIVE_REQ_TIMEOUT_POLICY_TYPE (31). It is sent with the request; servers answer requests
    /// that arrive later with TIMEOUT.
    RelativeRequestTimeout(Duration),
    /// Latest delivery of a request, as an absolute time: REQUEST_END_TIME_POLICY_TYPE (28). The
    /// clocks of client and server should be synchronised.
    RequestEndTime(SystemTime),
    /// Latest delivery of the reply, as an absolute time: REPLY_END_TIME_POLICY_TYPE (30).
    ReplyEndTime(SystemTime),
    /// Maximum time of a connection's set-up, in place of [`crate::Timeouts::connect`] (TAO's
    /// ConnectionTimeout).
    ConnectTimeout(Duration),
    /// Permitted rebinding of a bound reference without its caller's knowledge: REBIND_POLICY_TYPE
    /// (23).
    Rebind(Rebind),
    /// Point that a one-way request must have reached when its call returns: the Messaging policy
    /// SYNC_SCOPE_POLICY_TYPE (24).
    SyncScope(SyncScope),
    /// Buffering of one-way requests to be sent together, with the conditions for sending (O'Ryan
    /// et al. 2001, §4.2.4: TAO's BufferingConstraint). It replaces
    /// [`crate::OrbConfig::one_way_buffering`]; with `None`, requests are sent at once. If a
    /// [`Policy::SyncScope`] is set, it takes effect only with [`SyncScope::None`].
    Buffering(Option<Buffering>),
    /// Capacity of a buffer, and the treatment of a request for which there is no room. It replaces
    /// [`crate::OrbConfig::buffer_capacity`].
    BufferCapacity(BufferCapacity),
    /// True if a request overtakes those that are buffered on its connection: it is sent at once,
    /// and they stay in the buffer. Otherwise, sending a request that is not buffered also sends
    /// the buffered ones (O'Ryan et al. 2001, §4.2.4: out-of-band requests). It applies to requests
    /// of every kind.
    OutOfBand(bool),
    /// Order in which requests are sent from a buffer: QUEUE_ORDER_POLICY_TYPE (35).
    QueueOrder(QueueOrder),
    /// Priority of requests in queues ordered by priority, the highest of the range:
    /// REQUEST_PRIORITY_POLICY_TYPE (25). It is sent with the request.
    RequestPriority(PriorityRange),
    /// Priority of replies in queues: REPLY_PRIORITY_POLICY_TYPE (26). It is sent with the request,
    /// for routers.
    ReplyPriority(PriorityRange),
    /// Earliest delivery of a request: REQUEST_START_TIME_POLICY_TYPE (27). The call waits until
    /// then before it sends. It is sent with the request.
    RequestStartTime(SystemTime),
    /// Earliest delivery of a reply: REPLY_START_TIME_POLICY_TYPE (29). The call does not return
    /// before that time. It is sent with the request.
    ReplyStartTime(SystemTime),
    /// Permission for servers to call back over this client's connections, or for the objects of a
    /// POA to be called in this way: BIDIRECTIONAL_POLICY_TYPE (37). It replaces
    /// [`crate::OrbConfig::bidirectional`].
    Bidirectional(Bidirectional),
    /// Protocols and their order: Real-time CORBA's ClientProtocolPolicy (43). In an ORB with
    /// Real-time CORBA, POAs may have it, too: clients that have no such policy prefer these
    /// protocols, and use others if necessary.
    ClientProtocols(ClientProtocols),
    /// Transfer of long sequences of bytes if memory is shared with the server.
    Transfer(Transfer),
    /// Manner in which calls share connections (multiplexed or exclusive).
    Mux(Mux),
    /// Method by which calling threads wait for replies.
    Wait(Wait),
    /// Method by which objects of this process are called.
    Collocation(Collocation),
    /// Encryption of calls over a network.
    Security(Security),
    /// Code set of `char` and `string` on the wire.
    CharCodeSet(CharCodeSet),
    /// Limit on the number of asynchronous calls in flight.
    CallsInFlight(CallsInFlight),
    /// Property of connections of one link, e.g. `no_delay` of `iiop` or `spin_us` of `shmiop`.
    /// Other links ignore it.
    LinkProperty(LinkProperty),
    /// Policy of a type that was added to the ORB ([`crate::OrbBuilder::policy_type`]), made by
    /// [`Policy::of`].
    Defined(DefinedPolicy),
}

impl Policy {
    /// Returns the type's number: the standard's, or one in Punctual's own range.
    #[must_use]
    pub fn policy_type(&self) -> u32 {
        match self {
            Self::RelativeRoundtripTimeout(_) => numbers::RELATIVE_ROUNDTRIP_TIMEOUT,
            Self::RelativeRequestTimeout(_) => numbers::RELATIVE_REQUEST_TIMEOUT,
            Self::RequestEndTime(_) => numbers::REQUEST_END,
            Self::ReplyEndTime(_) => numbers::REPLY_END,
            Self::ConnectTimeout(_) => numbers::CONNECT_TIMEOUT,
            Self::Rebind(_) => numbers::REBIND,
            Self::SyncScope(_) => numbers::SYNC_SCOPE,
            Self::Buffering(_) => numbers::BUFFERING,
            Self::Bidirectional(_) => numbers::BIDIRECTIONAL,
            Self::BufferCapacity(_) => numbers::BUFFER_CAPACITY,
            Self::OutOfBand(_) => numbers::OUT_OF_BAND,
            Self::QueueOrder(_) => numbers::QUEUE_ORDER,
            Self::RequestPriority(_) => numbers::REQUEST_PRIORITY,
            Self::ReplyPriority(_) => numbers::REPLY_PRIORITY,
            Self::RequestStartTime(_) => numbers::REQUEST_START,
            Self::ReplyStartTime(_) => numbers::REPLY_START,
            Self::ClientProtocols(_) => numbers::CLIENT_PROTOCOLS,
            Self::Transfer(_) => numbers::TRANSFER,
            Self::LinkProperty(_) => numbers::LINK_PROPERTY,
            Self::Mux(_) => numbers::MUX,
            Self::Wait(_) => numbers::WAIT,
            Self::Collocation(_) => numbers::COLLOCATION,
            Self::Security(_) => numbers::SECURITY,
            Self::CharCodeSet(_) => numbers::CHAR_CODE_SET,
            Self::CallsInFlight(_) => numbers::CALLS_IN_FLIGHT,
            Self::Defined(defined) => defined.policy_type(),
        }
    }

    /// Creates a policy of a type that was added to the ORB.
    #[must_use]
    pub fn of<P: PolicyType>(value: P) -> Self {
        Self::Defined(DefinedPolicy::new(value))
    }

    /// Returns the value of a policy whose type was added to the ORB; `None` for any other policy.
    #[must_use]
    pub fn value<P: PolicyType>(&self) -> Option<&P> {
        match self {
            Self::Defined(defined) => defined.value(),
            _ => None,
        }
    }

    /// Creates a policy that prefers these protocols, in this order; `otherwise` says what happens
    /// if none can be used.
    #[must_use]
    pub fn protocols<S: AsRef<str>>(preferred: &[S], otherwise: Otherwise) -> Self {
        let preferred = preferred.iter().map(|name| name.as_ref().to_owned());
        Self::ClientProtocols(ClientProtocols {
            preferred: preferred.collect(),
            otherwise,
        })
    }

    /// Creates a policy for a property of one link's connections.
    #[must_use]
    pub fn link_property(link: &str, name: &str, value: impl ToString) -> Self {
        Self::LinkProperty(LinkProperty {
            link: link.to_owned(),
            name: name.to_owned(),
            value: value.to_string(),
        })
    }

    /// Creates a policy for the time that a thread waiting on a shared-memory connection spins
    /// before it sleeps; zero disables spinning.
    #[must_use]
    pub fn spin(budget: Duration) -> Self {
        Self::link_property("shmiop", "spin_us", budget.as_micros())
    }
}

/// Returns the exception INV_POLICY for an invalid policy.
pub(crate) fn invalid(detail: impl Into<std::borrow::Cow<'static, str>>) -> SystemException {
    SystemException::new(
        Kind::InvPolicy,
        minor::CANNOT_RECONCILE,
        CompletionStatus::No,
    )
    .with_detail(detail.into())
}
