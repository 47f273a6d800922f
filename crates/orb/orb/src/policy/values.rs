//! Values of the policies that every ORB supports.

use punctual_cdr::NarrowCodeSet;

/// Protocols that a call may use: the first that a reference offers and that can be reached is
/// used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProtocols {
    /// Names of protocols in order of preference, e.g. `shmiop`, `uiop`, `iiop`.
    pub preferred: Vec<String>,
    /// Fallback when a reference offers none of the preferred protocols, or none can be reached.
    pub otherwise: Otherwise,
}

/// Fallback when none of the preferred protocols can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The call fails with INV_POLICY.
    #[default]
    Raise,
    /// Another protocol of the reference is used, in the order of its profiles.
    Choose,
}

/// Transfer of long sequences of bytes or primitive values over links with shared memory (Schmidt
/// et al. 2001, §3.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// Buffers lent by the link, if it has any and the sequence is long enough. Without a copy if
    /// the value is in a [`punctual_link::Loan`], otherwise with one copy.
    #[default]
    Lend,
    /// Copying through the connection's ring buffer, as for short values.
    Copy,
}

/// Sharing of connections by calls to one endpoint (Arulanthu et al. 2000, §3.1: the transport mux
/// strategies).
///
/// A change affects calls that begin afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mux {
    /// All calls share one connection until they repeatedly contend for it. Then more connections
    /// are opened, up to [`crate::OrbConfig::connections_per_endpoint`], and each thread keeps
    /// using one. Connections that have not been needed for a while are closed, until one is left
    /// ([`crate::Timeouts::spare_connection`]). A thread that sends one-ways keeps using the
    /// connection of its first one, so that its own calls do not overtake them; calls of other
    /// threads may, whereas [`Mux::Shared`] preserves the order of sending. Over links that need a
    /// thread for each connection, and for calls that wait other than by [`Wait::Read`], this is
    /// the same as [`Mux::Shared`].
    #[default]
    Adaptive,
    /// All calls share one connection; one of the waiting callers reads for the others.
    Shared,
    /// A connection carries one call at a time. There are as many connections as simultaneous
    /// calls; they are kept for later calls.
    Exclusive,
}

/// Method by which a call waits for its reply (Arulanthu et al. 2000, §3.1: the wait strategies).
///
/// It is a property of the connection: calls with different methods do not share connections. Links
/// that cannot be received from without blocking support only [`Wait::Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wait {
    /// The caller reads the connection; of several callers, one reads for all. This is the fastest.
    /// Meanwhile, callbacks of the server are served by other threads, if there are any.
    #[default]
    Read,
    /// The caller serves the ORB's reactor, which also serves the reactive endpoints, until its
    /// reply has arrived: it serves other requests meanwhile, nested in its call (`max_nesting`).
    Reactor,
    /// The caller joins the thread pool of the first endpoint that has one whenever all threads of
    /// the pool are busy, and sleeps otherwise. In the pool it serves requests as with
    /// [`Wait::Reactor`].
    LeaderFollowers,
}

/// Method by which stubs call objects of this process (Schmidt 2000: collocation).
///
/// A call without a request takes as long as the servant does: time-outs do not interrupt it.
/// Parameters are not marshaled, so the bounds of IDL strings and sequences are not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collocation {
    /// Through the object adapter, as for requests: the POA manager's state, servant managers and
    /// Current have the same effect as for calls over the wire.
    #[default]
    ThruPoa,
    /// Directly to the active servant, bypassing the adapter: the adapter neither holds calls back
    /// nor counts them, and Current is not set. If no servant is active, through the adapter.
    Direct,
    /// Calls by requests, as to an object of another process.
    None,
}

/// Encryption of calls over a network, for references that do not decide on it.
///
/// The demands of a reference's profile on its clients (`target_requires` of SSL_SEC_TRANS, SSLIOP)
/// are met with every value but [`Security::Off`]. Only encryption counts as protection. Unix
/// sockets and shared memory do not, as a reference from another host may contain a path at which
/// some other program listens on this host; nor do links from shared libraries, whose interface
/// does not tell whether they encrypt.
///
/// A change applies to connections that are opened afterwards; calls continue to use an open
/// connection that they have used before with unchanged policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Security {
    /// Only encrypted requests are sent: unencrypted endpoints of a reference are skipped, and if
    /// no endpoint is left, a call raises INV_POLICY.
    Require,
    /// Encryption as with [`Security::Require`] if a reference offers TLS and this ORB has TLS
    /// configured: nothing is sent unencrypted if the encrypted connection fails. Unencrypted if
    /// the reference does not offer TLS.
    #[default]
    Prefer,
    /// Endpoints are tried in their order, whether or not the reference offers or demands
    /// encryption.
    Off,
}

/// Code set of `char` and `string` on the wire, if both sides support it; otherwise the one that
/// they have in common is used.
///
/// References of this ORB announce it as the native code set, so it also applies to incoming calls
/// of clients that convert to the server's native code set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CharCodeSet {
    /// UTF-8, which can represent every character.
    #[default]
    Utf8,
    /// ISO 8859-1, for peers that convert UTF-8 incorrectly. Characters that it does not contain
    /// raise DATA_CONVERSION.
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
/// §22.2.1.2). A reference is bound by its first call, or by
/// [`crate::ObjectRef::validate_connection`], which also binds it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rebind {
    /// All rebinding is permitted: a closed connection is reopened, forwards are followed, other
    /// profiles are tried.
    #[default]
    Transparent,
    /// Only a closed connection is reopened, to the same endpoint; anything else raises REBIND.
    NoRebind,
    /// No rebinding is permitted: a closed connection raises REBIND.
    NoReconnect,
}

/// Point that a one-way request must have reached when its call returns (CORBA 3.3 part 2,
/// §22.2.1.3), from the fastest to the most reliable.
///
/// If no SyncScope is set, calls return as with [`SyncScope::WithTransport`], or, if requests are
/// buffered, as with [`SyncScope::None`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncScope {
    /// The call returns at once: the request may be buffered ([`super::Policy::Buffering`],
    /// [`crate::OrbConfig::one_way_buffering`]), and later failures are not reported.
    None,
    /// The transport has accepted the one-way request.
    WithTransport,
    /// The server has found the servant: failures before that are raised, and forwards are
    /// followed. Before GIOP 1.2 this is the same as [`SyncScope::WithTarget`].
    WithServer,
    /// The servant has finished; system exceptions are raised at the caller.
    WithTarget,
}

/// Permitted directions of requests on one connection (CORBA 3.3 part 2, §9.9: BiDirPolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bidirectional {
    /// Only from the client that opened the connection to the server.
    #[default]
    Normal,
    /// Both directions, that is, callbacks too. As a client's policy: the client announces its
    /// listen points to the server, and serves requests that arrive over its connections for
    /// objects of POAs that have this policy. As the policy of a server's ORB: the server sends
    /// calls over the connection on which a reference was received, if that client has announced
    /// its listen points.
    Both,
}

impl Bidirectional {
    /// True if connections can have both directions: without the feature, policies and settings that ask for it are
    /// refused.
    pub(crate) const IS_BUILT_IN: bool = cfg!(feature = "bidirectional");
}

/// Property of the connections of one link, such as `no_delay`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProperty {
    /// Name of the link, such as `iiop`.
    pub link: String,
    /// Name of the connection property, such as `no_delay`.
    pub name: String,
    /// Value of the connection property, as text.
    pub value: String,
}
