//! Association of replies with requests, and decoding of both.

use std::rc::Rc;

use punctual::{Any, SystemException};
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_giop::ReplyStatus;

use super::bounded::Bounded;
use super::known::{Candidate, KnownDeclarations};
use super::log::{Body, Head, MOST_OCTETS, Message, NoBody, Peer};
use super::values::{BodyKind, Encoded, Fit};

/// Maximum number of requests that wait for their replies, of connections whose code sets are kept,
/// and of messages being assembled from fragments.
const MOST_WAITING: usize = 10_000;
const MOST_CONNECTIONS: usize = 1000;
const MOST_PARTIAL: usize = 64;

/// Decoded contents of a message.
#[derive(Debug)]
pub(super) struct DecodedMessage {
    pub(super) sent: bool,
    pub(super) peer: Peer,
    pub(super) is_reply: bool,
    pub(super) id: u32,
    /// Name of the operation; `None` if the log does not contain the request.
    pub(super) operation: Option<Rc<str>>,
    pub(super) says: Contents,
}

#[derive(Debug)]
pub(super) enum Contents {
    /// Arguments or results, as decoded for each operation that fits.
    Values(Vec<Fit>),
    User(Any),
    System(SystemException),
    /// Reply that forwards the client, or asks for another addressing mode.
    Elsewhere(ReplyStatus),
    /// Reason for which the contents are unknown.
    Nothing(Reason),
}

#[derive(Debug)]
pub(super) enum Reason {
    NoBody(NoBody),
    /// No operation of that name is declared.
    NotDeclared,
    /// The bytes are not a value of the declared types.
    NoFit(String),
    /// The log does not contain the request of the reply.
    NoRequest,
    /// The message is a fragment whose first part is not in the log, or a fragment of GIOP 1.1,
    /// which does not name its request.
    Fragment,
}

/// Calls of a log that are in progress.
#[derive(Debug)]
pub(super) struct Calls {
    known: KnownDeclarations,
    waiting: Bounded<Call, Waiting>,
    code_sets: Bounded<Peer, CodeSets>,
    partial: Bounded<Call, Message>,
}

/// A call: its client, its server, and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Call {
    peer: Peer,
    is_ours: bool,
    id: u32,
}

#[derive(Debug)]
struct Waiting {
    operation: Rc<str>,
    /// Operations whose parameters fit the request's arguments.
    candidates: Vec<Rc<Candidate>>,
}

impl Calls {
    pub(super) fn new(known: KnownDeclarations) -> Self {
        Self {
            known,
            waiting: Bounded::new(MOST_WAITING),
            code_sets: Bounded::new(MOST_CONNECTIONS),
            partial: Bounded::new(MOST_PARTIAL),
        }
    }

    /// Returns the contents of a message; `None` while fragments are missing.
    pub(super) fn take(&mut self, message: Message) -> Option<DecodedMessage> {
        let message = match message.head {
            Head::Fragment { id: Some(id) } => self.go_on(id, message)?,
            Head::Request { id, .. } | Head::Reply { id, .. } if message.more_fragments => {
                if message.version != GiopVersion::V1_2 {
                    return Some(fragment(&message, id));
                }
                self.partial.insert(call(&message, id), message);
                return None;
            }
            _ => message,
        };
        Some(match &message.head {
            Head::Request {
                id,
                operation,
                reply_expected,
            } => self.request(&message, *id, operation, *reply_expected),
            Head::Reply { id, status } => self.reply(&message, *id, *status),
            Head::Fragment { id } => fragment(&message, id.unwrap_or_default()),
        })
    }

    /// Returns the message that a fragment completes; otherwise adds the fragment to the message.
    fn go_on(&mut self, id: u32, fragment: Message) -> Option<Message> {
        // A message and its fragments have the same direction; only the beginning shows whether it
        // is a request.
        let keys = [true, false].map(|is_ours| Call {
            peer: fragment.peer.clone(),
            is_ours,
            id,
        });
        let found = keys.into_iter().find(|key| {
            let begun = self.partial.get(key);
            begun.is_some_and(|begun| begun.sent == fragment.sent)
        });
        let Some(key) = found else {
            return Some(fragment);
        };
        let mut whole = self.partial.remove(&key)?;
        whole.more_fragments = fragment.more_fragments;
        whole.body = joined(whole.body, fragment.body);
        if !whole.more_fragments {
            return Some(whole);
        }
        self.partial.insert(key, whole);
        while self.held() > MOST_OCTETS {
            self.partial.remove_oldest();
        }
        None
    }

    fn held(&self) -> usize {
        let bodies = self.partial.values().flat_map(|one| &one.body);
        bodies.map(|body| body.octets.len()).sum()
    }

    fn request(
        &mut self,
        message: &Message,
        id: u32,
        operation: &str,
        reply_expected: bool,
    ) -> DecodedMessage {
        match message.code_sets {
            Some(Some(sets)) => self.code_sets.insert(message.peer.clone(), sets),
            Some(None) => drop(self.code_sets.remove(&message.peer)),
            None => {}
        }
        let declared = self.known.operations(operation);
        let says = self.values(message, declared, BodyKind::Arguments);
        let operation: Rc<str> = Rc::from(operation);
        if reply_expected {
            let candidates = match &says {
                Contents::Values(fits) => fits.iter().map(|fit| fit.candidate.clone()).collect(),
                _ => declared.to_vec(),
            };
            let waiting = Waiting {
                operation: operation.clone(),
                candidates,
            };
            self.waiting.insert(call(message, id), waiting);
        }
        DecodedMessage {
            sent: message.sent,
            peer: message.peer.clone(),
            is_reply: false,
            id,
            operation: Some(operation),
            says,
        }
    }

    fn reply(&mut self, message: &Message, id: u32, status: ReplyStatus) -> DecodedMessage {
        let waiting = self.waiting.remove(&call(message, id));
        let says = match (status, &waiting) {
            (ReplyStatus::NoException, Some(waiting)) => {
                self.values(message, &waiting.candidates, BodyKind::Results)
            }
            (ReplyStatus::NoException, None) => Contents::Nothing(Reason::NoRequest),
            (ReplyStatus::UserException, _) => self.decoded(message, |encoded| {
                encoded.user_exception(&self.known).map(Contents::User)
            }),
            (ReplyStatus::SystemException, _) => self.decoded(message, |encoded| {
                encoded.system_exception().map(Contents::System)
            }),
            _ => Contents::Elsewhere(status),
        };
        DecodedMessage {
            sent: message.sent,
            peer: message.peer.clone(),
            is_reply: true,
            id,
            operation: waiting.map(|waiting| waiting.operation),
            says,
        }
    }

    fn values(&self, message: &Message, candidates: &[Rc<Candidate>], holds: BodyKind) -> Contents {
        if candidates.is_empty() {
            return Contents::Nothing(Reason::NotDeclared);
        }
        self.decoded(message, |encoded| {
            encoded.fits(candidates, holds).map(Contents::Values)
        })
    }

    fn decoded(
        &self,
        message: &Message,
        decode: impl FnOnce(&Encoded<'_>) -> Result<Contents, String>,
    ) -> Contents {
        let body = match &message.body {
            Ok(body) => body,
            Err(why) => return Contents::Nothing(Reason::NoBody(*why)),
        };
        let agreed = self.code_sets.get(&message.peer).copied();
        let decoded = decode(&Encoded::new(message, body, agreed, &self.known));
        decoded.unwrap_or_else(|reason| Contents::Nothing(Reason::NoFit(reason)))
    }
}

/// Returns the call to which a request or reply belongs.
fn call(message: &Message, id: u32) -> Call {
    let is_request = matches!(message.head, Head::Request { .. });
    Call {
        peer: message.peer.clone(),
        is_ours: message.sent == is_request,
        id,
    }
}

fn joined(begun: Result<Body, NoBody>, more: Result<Body, NoBody>) -> Result<Body, NoBody> {
    let (mut begun, more) = (begun?, more?);
    if begun.octets.len() + more.octets.len() > MOST_OCTETS {
        return Err(NoBody::TooLong);
    }
    begun.octets.extend_from_slice(&more.octets);
    Ok(begun)
}

fn fragment(message: &Message, id: u32) -> DecodedMessage {
    DecodedMessage {
        sent: message.sent,
        peer: message.peer.clone(),
        is_reply: matches!(message.head, Head::Reply { .. }),
        id,
        operation: None,
        says: Contents::Nothing(Reason::Fragment),
    }
}
