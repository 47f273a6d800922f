//! State that the reader, dispatcher and reply sender of one client's connection share: the link,
//! the encoding of messages, the code sets agreed on with the peer, and whether the connection is
//! closing.

use super::code_sets::AgreedCodeSets;
use super::peer_connection::{Life, PeerConnection};
use crate::broker::Broker;
use crate::budget::FREE;
use crate::lane::Counters;
use crate::messaging::{Abilities, Fragmenting, Head, Session, Template};
use crate::upcall::RequestPeer;
use punctual_cdr::{CodeSets, Coding, Environment, GiopVersion, Limits};
use punctual_exec::lane_lock::LockError;
use punctual_giop::{MessageKind, ReplyHeader, ReplyStatus};
use punctual_link::{Address, Connection, SendError};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Flag in `calls`: the connection is closing and begins no further requests.
const CLOSING: u32 = 1 << 31;
/// Maximum number of log lines about protocol errors on one connection, so that a hostile peer
/// cannot fill a disk.
const MAX_COMPLAINTS: u32 = 10;

/// Id of a service context, and the length of its data in bytes.
type ContextShape = (u32, usize);
/// Maximum number of context shapes with a cached reply header on each connection.
const SHAPES: usize = 2;

/// State shared by the parts of one client's connection.
pub(crate) struct Conversation {
    broker: Arc<Broker>,
    /// Counters of the lane to which the connection belongs.
    counters: Arc<Counters>,
    /// Environment for decoding object references and valuetypes: the ORB.
    environment: Arc<dyn Environment>,
    link: Arc<dyn Connection>,
    /// Protocol session that encodes and decodes the messages of the connection.
    pub(super) session: Arc<dyn Session>,
    pub(super) abilities: Abilities,
    pub(super) fragmenting: Fragmenting,
    /// True if the link lends memory for large results.
    pub(super) lends: bool,
    /// Length in bytes above which a reply is counted, or exceeds its limit.
    pub(super) long_reply: usize,
    /// Cached reply header for [`Conversation::results`].
    results: Option<Template>,
    /// Cached headers for [`Conversation::results_with`], each written for the first reply of its
    /// shape.
    results_with: [OnceLock<(ContextShape, Option<Template>)>; SHAPES],
    code_sets: AgreedCodeSets,
    /// GIOP version of the peer's last message; used for messages to it that are not replies.
    spoken: AtomicU8,
    /// Number of requests in progress, and the flag [`CLOSING`].
    calls: AtomicU32,
    /// True once a reply could not be sent.
    has_failed: AtomicBool,
    complaints: AtomicU32,
    life: Life,
    /// What is known for certain about the client; read for the first request that needs it.
    identity: OnceLock<Arc<[u8]>>,
}

impl Conversation {
    pub(super) fn new(
        (broker, counters): (Arc<Broker>, Arc<Counters>),
        environment: Arc<dyn Environment>,
        link: Arc<dyn Connection>,
        session: Arc<dyn Session>,
        abilities: Abilities,
    ) -> Self {
        let code_sets = if abilities.contexts {
            CodeSets::UNNEGOTIATED
        } else {
            CodeSets::NATIVE
        };
        let fragmenting = match abilities.fragments {
            true => Fragmenting::new(broker.config()),
            false => Fragmenting::NEVER,
        };
        Self {
            fragmenting,
            lends: link.lender().is_some(),
            long_reply: FREE.min(broker.limits().message),
            results: results(&*session, broker.limits(), None),
            results_with: [const { OnceLock::new() }; SHAPES],
            link,
            session,
            abilities,
            code_sets: AgreedCodeSets::new(code_sets),
            spoken: AtomicU8::new(GiopVersion::V1_0.minor()),
            calls: AtomicU32::new(0),
            has_failed: AtomicBool::new(false),
            complaints: AtomicU32::new(0),
            life: Life::default(),
            identity: OnceLock::new(),
            environment,
            counters,
            broker,
        }
    }

    #[inline]
    pub(crate) fn broker(&self) -> &Broker {
        &self.broker
    }

    #[inline]
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    pub(crate) fn environment(&self) -> &dyn Environment {
        &*self.environment
    }

    #[inline]
    pub(crate) fn link(&self) -> &dyn Connection {
        &*self.link
    }

    pub(crate) fn peer(&self) -> &Address {
        self.link.peer()
    }

    /// Returns the description of the client that is passed to servants.
    pub(crate) fn request_peer(&self) -> RequestPeer {
        RequestPeer {
            address: self.link.peer().clone(),
            certificates: self.link.peer_certificates(),
            is_owner: self.link.peer_is_owner(),
        }
    }

    /// Returns the certificate that the client has proved to own, or the user of its process; empty if neither is known.
    pub(super) fn peer_identity(&self) -> &Arc<[u8]> {
        let identity = || match (self.link.peer_certificates().first(), self.link.peer_user()) {
            (Some(certificate), _) => [b"certificate ", &certificate[..]].concat().into(),
            (None, Some(user)) => format!("user {user}").into_bytes().into(),
            (None, None) => Arc::default(),
        };
        self.identity.get_or_init(identity)
    }

    /// Returns a handle that says whether the connection exists.
    pub(super) fn peer_connection(&self) -> PeerConnection {
        self.life.connection()
    }

    /// Returns the parameters for decoding messages of this version.
    #[inline]
    pub(super) fn coding(&self, version: GiopVersion) -> Coding<'_> {
        Coding {
            version,
            code_sets: self.code_sets(),
            limits: self.broker().limits(),
            environment: Some(self.environment()),
        }
    }

    #[inline]
    pub(super) fn code_sets(&self) -> CodeSets {
        self.code_sets.get()
    }

    /// Sets the code sets that the client has chosen for this connection (CORBA 3.3 part 2,
    /// §7.10.2.6).
    pub(super) fn set_code_sets(&self, code_sets: CodeSets) {
        self.code_sets.set(code_sets);
    }

    /// Returns the prepared header of GIOP 1.2 replies with results and no service contexts, if
    /// that is constant except for the request id.
    #[inline]
    pub(super) fn results(&self) -> Option<&Template> {
        self.results.as_ref()
    }

    /// Returns the prepared header of replies with results and one service context of this shape.
    /// Only the first few shapes on a connection get one.
    #[inline]
    pub(super) fn results_with(&self, shape: ContextShape) -> Option<&Template> {
        // Nearly all replies have the first shape.
        let [first, ..] = &self.results_with;
        match first.get() {
            Some((of, template)) if *of == shape => template.as_ref(),
            _ => self.results_with_another(shape),
        }
    }

    #[inline(never)]
    fn results_with_another(&self, shape: ContextShape) -> Option<&Template> {
        for head in &self.results_with {
            let (of, template) = head.get_or_init(|| {
                let limits = self.broker.limits();
                (shape, results(&*self.session, limits, Some(shape)))
            });
            if *of == shape {
                return template.as_ref();
            }
        }
        None
    }

    /// Returns the GIOP version of the peer's last message.
    pub(super) fn spoken(&self) -> GiopVersion {
        let minor = self.spoken.load(Ordering::Relaxed);
        GiopVersion::from_numbers(1, minor).unwrap_or(GiopVersion::V1_0)
    }

    #[inline]
    pub(super) fn record_version(&self, version: GiopVersion) {
        self.spoken.store(version.minor(), Ordering::Relaxed);
    }

    /// Counts a request as in progress; returns `false` when the connection is closing. In both
    /// cases [`Conversation::end_request`] must follow.
    #[inline]
    pub(super) fn begin_request(&self) -> bool {
        // AcqRel on both sides: either the closing thread sees this request, or this thread sees
        // the flag.
        self.calls.fetch_add(1, Ordering::AcqRel) & CLOSING == 0
    }

    /// Ends the count of a request; returns `true` if it was the last one of a connection that is
    /// closing.
    #[inline]
    pub(super) fn end_request(&self) -> bool {
        self.calls.fetch_sub(1, Ordering::AcqRel) == CLOSING | 1
    }

    /// Returns `true` if a request is in progress, or the connection is closing.
    pub(super) fn is_busy(&self) -> bool {
        self.calls.load(Ordering::Acquire) != 0
    }

    /// Refuses new requests; returns `true` if none is in progress, and this is the first call.
    pub(super) fn begin_closing(&self) -> bool {
        self.calls.fetch_or(CLOSING, Ordering::AcqRel) == 0
    }

    /// Closes the connection without a message. Requests that were received but not begun are not
    /// served: the peer has broken the protocol, does not accept replies, or has sent
    /// CloseConnection.
    pub(super) fn close(&self) {
        // Release pairs with `begin_request`.
        self.calls.fetch_or(CLOSING, Ordering::Release);
        self.link.close();
    }

    /// Returns `true` if a reply could not be sent: none is sent afterwards, either.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Handles a failure to send a reply to the client.
    #[cold]
    pub(super) fn reply_failed(&self, error: &SendError) {
        self.has_failed.store(true, Ordering::Release);
        self.complain(&format!("a reply could not be sent: {error}; closed"));
        self.close();
    }

    /// Handles the failure of a lock on the reply path: its previous owner has failed, or the
    /// calling thread already holds it. No more replies can be sent.
    #[cold]
    pub(super) fn lock_failed(&self, error: LockError) {
        self.has_failed.store(true, Ordering::Release);
        self.complain(&format!("no reply can be sent: {error}; closed"));
        self.close();
    }

    /// Logs one line about this peer, unless the maximum number has been reached.
    pub(super) fn complain(&self, what: &str) {
        match self.complaints.fetch_add(1, Ordering::Relaxed) {
            count if count < MAX_COMPLAINTS => tracing::warn!(peer = %self.peer(), "{what}"),
            MAX_COMPLAINTS => {
                tracing::warn!(peer = %self.peer(), "further complaints about this peer are not logged");
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("peer", self.peer())
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

/// Returns the prepared header of a reply with results, for any request id, with a context of this
/// id and length.
fn results(
    session: &dyn Session,
    limits: &Limits,
    context: Option<ContextShape>,
) -> Option<Template> {
    let head = |contexts| {
        Head::Reply(ReplyHeader {
            request_id: 0,
            status: ReplyStatus::NoException,
            contexts,
        })
    };
    let data = vec![0; context.map_or(0, |(_, length)| length)];
    let empty = context.map(|(id, _)| (id, &data[..]));
    let lengths = context.map(|(_, length)| length);
    let contexts = (empty.as_slice(), lengths.as_slice());
    let coding = Coding::new(GiopVersion::V1_2, limits);
    let kind = MessageKind::Reply;
    Template::with_contexts(session, kind, head, contexts, coding)
        .ok()
        .flatten()
}
