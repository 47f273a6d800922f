//! Values of the policies that every ORB knows.

use punctual_cdr::NarrowCodeSet;

/// Protocols that a call may use: the first that a reference offers and that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProtocols {
    /// Names in order of preference, e.g. `shmiop`, `uiop`, `iiop`.
    pub preferred: Vec<String>,
    /// Fallback when a reference offers none of them, or none can be reached.
    pub otherwise: Otherwise,
}

/// Fallback when a preference cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The call fails with INV_POLICY.
    #[default]
    Raise,
    /// Another protocol of the reference is used, in the order of its profiles.
    Choose,
}

/// Transfer of large runs of octets and primitive values where memory is shared (Schmidt et al.
/// 2001, §3.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// Lent buffers, where the link has some and the run is long enough: without a copy from a
    /// [`punctual_link::Loan`], with one otherwise.
    #[default]
    Lend,
    /// The connection's ring, as for small values.
    Copy,
}

/// Sharing of connections by calls to one endpoint (Arulanthu et al. 2000, §3.1: the transport mux
/// strategies).
///
/// A change affects calls that begin afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mux {
    /// All share one connection until they contend for it repeatedly: then more are opened, up to
    /// [`crate::OrbConfig::connections_per_endpoint`], and each thread keeps to one. Connections
    /// that are not needed for a while are closed, until one is left
    /// ([`crate::Timeouts::spare_connection`]). A thread that sends one-ways keeps to the
    /// connection that it sent the first one by, so that its own calls do not overtake them; those
    /// of other threads may, where [`Mux::Shared`] keeps the order in which they left. Over links
    /// that need a thread for each connection, and where calls wait otherwise than by
    /// [`Wait::Read`], as [`Mux::Shared`].
    #[default]
    Adaptive,
    /// All share one connection; one of the waiting callers reads for the others.
    Shared,
    /// A connection carries one call at a time: there are as many connections as simultaneous
    /// calls, kept for the next ones.
    Exclusive,
}

/// Method by which a call waits for its reply (Arulanthu et al. 2000, §3.1: the wait strategies).
///
/// It belongs to the connection: calls that wait in different ways share none. Links that cannot be
/// received from without blocking support only [`Wait::Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wait {
    /// The caller reads the connection; of several callers, one reads for all. This is the fastest.
    /// Callbacks of the server in the meantime are served by other threads, if there are any.
    #[default]
    Read,
    /// The caller serves the ORB's reactor, that of its reactive endpoints, until its reply has
    /// come: other calls are served in the meantime, one nested in the other (`max_nesting`).
    Reactor,
    /// The caller joins the pool of the ORB's first endpoint that has one, when all threads of the
    /// pool are busy, and sleeps otherwise. In the pool it serves as with [`Wait::Reactor`].
    LeaderFollowers,
}

/// Method by which stubs call objects of this process (Schmidt 2000: collocation).
///
/// A call that goes to its servant without a request takes as long as the servant does: time-outs
/// do not end it. Parameters are not marshaled, and so not checked against the bounds of IDL's
/// strings and sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collocation {
    /// Through the object adapter, as requests: its manager's state, its servant managers and
    /// Current are as over the wire.
    #[default]
    ThruPoa,
    /// Directly to the active servant, past the adapter: the adapter neither holds calls back nor
    /// counts them, and Current does not know them. Where no servant is active, through the
    /// adapter.
    Direct,
    /// Requests, as to any other process.
    None,
}

/// Protection of calls on their way over a network, where a reference leaves that open.
///
/// The demands of a reference's profile on its clients (`target_requires` of SSL_SEC_TRANS, SSLIOP)
/// are obeyed by all but [`Security::Off`]. Only encryption counts as protection: Unix sockets and
/// shared memory do not, as a reference from elsewhere may name a path at which another program
/// listens here; nor do links from libraries, whose interface does not say.
///
/// It applies to connections that are opened from then on; calls continue on a connection that they
/// have used under the same policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Security {
    /// Only protected requests are sent: other endpoints of a reference are passed over, and where
    /// none is left a call raises INV_POLICY.
    Require,
    /// Protection as with [`Security::Require`], if a reference offers TLS and this ORB has it
    /// configured: nothing is sent in clear when the protected connection fails. In clear if the
    /// reference offers none.
    #[default]
    Prefer,
    /// Endpoints are tried in their order, whatever the reference offers or demands.
    Off,
}

/// Code set of `char` and `string` on the wire, where both sides support it; if they have only
/// another in common, that.
///
/// References of this ORB name it as the native one, so that it also decides for incoming calls of
/// clients that prefer to convert to a server's native code set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CharCodeSet {
    /// UTF-8, which can represent every character.
    #[default]
    Utf8,
    /// ISO 8859-1, for peers that convert UTF-8 wrongly: text beyond it raises DATA_CONVERSION.
    Iso8859_1,
}

impl CharCodeSet {
    pub(crate) fn narrow(self) -> NarrowCodeSet {
        match self {
            Self::Utf8 => NarrowCodeSet::Utf8,
            Self::Iso8859_1 => NarrowCodeSet::Iso8859_1,
        }
    }
}

/// Permitted rebinding of a bound reference without its caller's knowledge (CORBA 3.3 part 2,
/// §22.2.1.2). It is bound by its first call, or by [`crate::ObjectRef::validate_connection`],
/// which binds it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rebind {
    /// A closed connection is opened again, forwards are followed, other profiles are tried.
    #[default]
    Transparent,
    /// Only a closed connection is opened again, to the same place; anything else raises REBIND.
    NoRebind,
    /// No rebinding is permitted: a closed connection raises REBIND.
    NoReconnect,
}

/// Point that a one-way request has reached when its call returns (CORBA 3.3 part 2, §22.2.1.3),
/// from the quickest to the surest.
///
/// Where none is set, calls return as with [`SyncScope::WithTransport`]; or as with
/// [`SyncScope::None`], where requests are buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncScope {
    /// No point: it may be buffered ([`super::Policy::Buffering`],
    /// [`crate::OrbConfig::one_way_buffering`]), and later failures are not reported.
    None,
    /// The transport has accepted the request.
    WithTransport,
    /// The server has found the servant: a failure before that is raised, forwards are followed.
    /// Before GIOP 1.2 as with [`SyncScope::WithTarget`].
    WithServer,
    /// The servant has finished: system exceptions are raised.
    WithTarget,
}

/// Direction of requests on one connection (CORBA 3.3 part 2, §9.9: BiDirPolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bidirectional {
    /// Only from the client that opened it to the server.
    #[default]
    Normal,
    /// Callbacks, too. With this as a client's policy, the client announces its listen points to
    /// the server, and serves requests that come back for objects of POAs that have this policy.
    /// With this as the policy of a server's ORB, the server sends calls by the connection that a
    /// reference came by, if that client has announced so.
    Both,
}

/// Property of one link's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProperty {
    /// Name of the link.
    pub link: String,
    /// Name of the property.
    pub name: String,
    /// Value of the property.
    pub value: String,
}
