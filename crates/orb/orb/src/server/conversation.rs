//! What reader, dispatcher and reply sender of one client's connection share: the link, how messages are laid
//! out on it, what was agreed on, and whether it is closing.

use super::code_sets::AgreedCodeSets;
use crate::broker::Broker;
use crate::lane::Counters;
use crate::messaging::{Abilities, Fragmenting, Head, Session, Template};
use crate::upcall::RequestPeer;
use punctual_cdr::{CodeSets, Coding, Environment, GiopVersion, Limits};
use punctual_exec::lane_lock::LockError;
use punctual_giop::{MessageKind, ReplyHeader, ReplyStatus};
use punctual_link::{Address, Connection, SendError};
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// In `calls`: no new request is begun.
const CLOSING: u32 = 1 << 31;
/// Lines logged about one connection's mistakes; a hostile peer shall not fill a disk.
const MAX_COMPLAINTS: u32 = 10;

/// Id of a context, and the length of its data in bytes.
type ContextShape = (u32, usize);
/// Shapes of contexts that have a head of results of their own on each connection.
const SHAPES: usize = 2;

/// See the module.
pub(crate) struct Conversation {
    broker: Arc<Broker>,
    /// Its lane's.
    counters: Arc<Counters>,
    /// What values that are read need to come alive: the ORB.
    environment: Arc<dyn Environment>,
    link: Arc<dyn Connection>,
    /// How messages are laid out here.
    pub(super) session: Arc<dyn Session>,
    pub(super) abilities: Abilities,
    pub(super) fragmenting: Fragmenting,
    /// Whether the link lends memory for large results.
    pub(super) lends: bool,
    /// See [`Conversation::results`].
    results: Option<Template>,
    /// See [`Conversation::results_with`]: written for the first reply of each shape.
    results_with: [OnceLock<(ContextShape, Option<Template>)>; SHAPES],
    code_sets: AgreedCodeSets,
    /// The version that the peer spoke last: what it is told when there is no request to answer.
    spoken: AtomicU8,
    /// Requests in progress, and [`CLOSING`].
    calls: AtomicU32,
    complaints: AtomicU32,
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
            results: results(&*session, broker.limits(), None),
            results_with: [const { OnceLock::new() }; SHAPES],
            link,
            session,
            abilities,
            code_sets: AgreedCodeSets::new(code_sets),
            spoken: AtomicU8::new(GiopVersion::V1_0.minor()),
            calls: AtomicU32::new(0),
            complaints: AtomicU32::new(0),
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

    /// What servants are told of the peer.
    pub(crate) fn request_peer(&self) -> RequestPeer {
        RequestPeer {
            address: self.link.peer().clone(),
            certificates: self.link.peer_certificates(),
        }
    }

    /// How messages of this version are to be read.
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

    /// What the client chose for this connection (CORBA 3.3 part 2, §7.10.2.6).
    pub(super) fn set_code_sets(&self, code_sets: CodeSets) {
        self.code_sets.set(code_sets);
    }

    /// The head of replies of GIOP 1.2 with results and no contexts, where it is the same but for its id.
    #[inline]
    pub(super) fn results(&self) -> Option<&Template> {
        self.results.as_ref()
    }

    /// Returns the head of replies with results and one context of this shape. The first few shapes of a connection have
    /// such a head.
    #[inline]
    pub(super) fn results_with(&self, shape: ContextShape) -> Option<&Template> {
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

    /// The version that the peer spoke last.
    pub(super) fn spoken(&self) -> GiopVersion {
        let minor = self.spoken.load(Ordering::Relaxed);
        GiopVersion::from_numbers(1, minor).unwrap_or(GiopVersion::V1_0)
    }

    #[inline]
    pub(super) fn record_version(&self, version: GiopVersion) {
        self.spoken.store(version.minor(), Ordering::Relaxed);
    }

    /// Counts a request as in progress; `false` when the connection is closing. Either way it is to end with
    /// [`Conversation::end_request`].
    #[inline]
    pub(super) fn begin_request(&self) -> bool {
        // AcqRel on both sides: a goodbye either sees this request or is seen by it.
        self.calls.fetch_add(1, Ordering::AcqRel) & CLOSING == 0
    }

    /// One request less; `true` when it was the last one of a connection that is closing.
    #[inline]
    pub(super) fn end_request(&self) -> bool {
        self.calls.fetch_sub(1, Ordering::AcqRel) == CLOSING | 1
    }

    /// Whether a request is in progress, or the connection is closing.
    pub(super) fn is_busy(&self) -> bool {
        self.calls.load(Ordering::Acquire) != 0
    }

    /// No new requests; `true` when none is in progress, and this is the first to say so.
    pub(super) fn begin_closing(&self) -> bool {
        self.calls.fetch_or(CLOSING, Ordering::AcqRel) == 0
    }

    /// Ends the connection without a word. What a peer that broke the protocol, takes no replies or has
    /// said goodbye had sent before, and was not begun, is not served.
    pub(super) fn close(&self) {
        // Release pairs with `begin_request`.
        self.calls.fetch_or(CLOSING, Ordering::Release);
        self.link.close();
    }

    /// A reply did not go out.
    #[cold]
    pub(super) fn reply_failed(&self, error: &SendError) {
        self.complain(&format!("a reply could not be sent: {error}; closed"));
        self.close();
    }

    /// No more replies can be sent: a lock of their path is lost, or held by the thread that wants it.
    #[cold]
    pub(super) fn lock_failed(&self, error: LockError) {
        self.complain(&format!("no reply can be sent: {error}; closed"));
        self.close();
    }

    /// Logs one line about this peer, up to a number of them.
    pub(super) fn complain(&self, what: &str) {
        match self.complaints.fetch_add(1, Ordering::Relaxed) {
            count if count < MAX_COMPLAINTS => tracing::warn!(peer = %self.peer(), "{what}"),
            MAX_COMPLAINTS => {
                tracing::warn!(peer = %self.peer(), "more such lines about this peer are left out");
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

/// The head of a reply with results, whatever its id, with a context of this id and length.
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
