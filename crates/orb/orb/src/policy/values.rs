//! The values of the policies that every ORB knows.

use punctual_cdr::NarrowCodeSet;

/// Protocols that a call may go out by, the first that a reference offers and that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProtocols {
    /// In order of preference, e.g. `shmiop`, `uiop`, `iiop`.
    pub preferred: Vec<String>,
    /// What happens when a reference offers none of them, or none can be reached.
    pub otherwise: Otherwise,
}

/// What happens when a preference cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The call fails with INV_POLICY.
    #[default]
    Raise,
    /// Another protocol of the reference is taken, in the order of its profiles.
    Choose,
}

/// How large runs of octets and primitive values travel where memory is shared (Schmidt et al. 2001, §3.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In lent buffers, where the link has some and the run is long enough for it: without a copy from a
    /// [`punctual_link::Loan`], with one otherwise.
    #[default]
    Lend,
    /// Always through the connection's ring, like small values.
    Copy,
}

/// Whether calls to one endpoint share a connection (Arulanthu et al. 2000, §3.1: the transport mux strategies).
///
/// Changed while calls are made, it holds for those that begin afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mux {
    /// All share one until they meet there, again and again: then more are opened, up to
    /// [`crate::OrbConfig::connections_per_endpoint`], and each thread keeps to one. Those that are not needed for a
    /// while are closed, until one is left ([`crate::Timeouts::spare_connection`]). A thread that sends one-ways keeps to the connection that it sent the
    /// first one by, so that its own calls do not overtake them; those of other threads may, where [`Mux::Shared`] keeps
    /// the order in which they left. Over links that need a thread for each connection, and where calls
    /// wait otherwise than by [`Wait::Read`], as [`Mux::Shared`].
    #[default]
    Adaptive,
    /// All share one, and whoever waits reads for the others.
    Shared,
    /// No two at once: as many connections as there are calls at one time, kept for the next ones.
    Exclusive,
}

/// How a call waits for its reply (Arulanthu et al. 2000, §3.1: the wait strategies).
///
/// It is its connection's: calls that wait in different ways share none. Links that cannot be received
/// from without blocking know only [`Wait::Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wait {
    /// The caller reads the connection; of several, one reads for all. Nothing is quicker. What the
    /// server calls back meanwhile is served by other threads, if there are any.
    #[default]
    Read,
    /// The caller serves the ORB's reactor, that of its reactive endpoints, until its reply has come:
    /// other calls come in meanwhile, one within the other (`max_nesting`).
    Reactor,
    /// As [`Wait::Reactor`], with the pool of the ORB's first endpoint that has one: the caller takes
    /// part in it where no thread of the pool is left, and sleeps otherwise.
    LeaderFollowers,
}

/// How stubs call objects of this process (Schmidt 2000: collocation).
///
/// A call that goes to its servant without a request takes as long as the servant does: time-outs do not end
/// it. What is passed is not marshaled, and so not checked against the bounds of IDL's strings and sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collocation {
    /// Through the object adapter, as requests go: its manager's state, its servant managers and Current are
    /// as over the wire.
    #[default]
    ThruPoa,
    /// To the servant that is active, past the adapter: it neither holds calls back nor counts them, and
    /// Current does not know them. Where no servant is active, through the adapter.
    Direct,
    /// By requests, as to any other process.
    None,
}

/// Whether calls are protected on their way over a network, where a reference leaves that open.
///
/// What a profile of a reference demands of those who come by it (`target_requires` of SSL_SEC_TRANS, SSLIOP) is
/// obeyed by all but [`Security::Off`]. Only encryption counts as protection: Unix sockets and shared memory do not,
/// as a reference from elsewhere may name a path at which somebody else listens here; nor do links from libraries,
/// whose interface does not say.
///
/// It holds for connections that are opened from then on; calls go on by one that they have gone by under the same
/// policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Security {
    /// Only what is protected is sent: other endpoints of a reference are passed over, and where it has none left a
    /// call raises INV_POLICY.
    Require,
    /// Where a reference offers TLS and this ORB has it configured, as [`Security::Require`]: nothing is sent
    /// in clear when the protected way fails. In clear where none is offered.
    #[default]
    Prefer,
    /// Whatever the reference offers or demands, its endpoints are tried in their order.
    Off,
}

/// Which code set `char` and `string` travel in, where both sides have it; where only one other is in common, that.
///
/// References of this ORB name it as the native one, so that it decides for calls that come in, too, by clients that
/// prefer a server's native code set to convert to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CharCodeSet {
    /// UTF-8, in which nothing is lost.
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

/// What a reference that has been bound may do without its caller's knowledge (CORBA 3.3 part 2, §22.2.1.2). It is bound by its
/// first call, or by [`crate::ObjectRef::validate_connection`], which binds it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rebind {
    /// A closed connection is opened again, forwards are followed, other profiles are tried.
    #[default]
    Transparent,
    /// Only a closed connection is opened again, to the same place; all else raises REBIND.
    NoRebind,
    /// Nothing: a closed connection raises REBIND.
    NoReconnect,
}

/// How far a one-way request has come when its call returns (CORBA 3.3 part 2, §22.2.1.3), from the quickest to the surest.
///
/// Where none is set, calls return as with [`SyncScope::WithTransport`]; or as with [`SyncScope::None`], where requests are
/// buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncScope {
    /// Nowhere: it may wait for others ([`super::Policy::Buffering`], [`crate::OrbConfig::one_way_buffering`]), and what
    /// becomes of it then is not heard.
    None,
    /// To the transport, which has taken it.
    WithTransport,
    /// To the server, which has found the servant: what keeps it from that is raised, forwards are followed. Before GIOP 1.2
    /// as with [`SyncScope::WithTarget`].
    WithServer,
    /// To the servant, which is done: system exceptions are raised.
    WithTarget,
}

/// Whether requests may go both ways by one connection (CORBA 3.3 part 2, §9.9: BiDirPolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bidirectional {
    /// From the client that opened it to the server, and no others.
    #[default]
    Normal,
    /// Callbacks, too. Where this is a client's policy, the server is told where the client listens, and requests that it sends
    /// back are served, for objects of POAs that have this policy. Where it is the policy of a server's ORB, it sends calls by
    /// the connection that a reference came by, if that client has told so.
    Both,
}

/// A property of one link's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProperty {
    /// The link's name.
    pub link: String,
    /// The property's.
    pub name: String,
    /// Its value.
    pub value: String,
}
