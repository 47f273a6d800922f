//! Fast path for plain messages of GIOP 1.2. A plain message is a request to an object key, or a
//! reply with results or a user exception. It is complete and not fragmented. A plain request has a
//! few short service contexts at most (a priority; or those of object groups, and a trace), a reply
//! one.
//!
//! Nearly all messages of a warm connection are plain. For any other message, well-formed or not,
//! the functions return `None`; [`crate::examine`] and the decoders of the headers handle it, and
//! report more. The fast path makes all checks of these decoders.
//!
//! ```text
//! offset    0       12  16                  20           24
//! request   header  id  response, reserved  disposition  key, operation, number of contexts
//! reply     header  id  status              number of contexts
//! ```
//! After the number of contexts, each has its id, its length and its data.

mod contexts;
mod limits;
mod operations;

use contexts::KnownContexts;
use limits::{LONGEST, LONGEST_CONTEXT};
use operations::Operations;
use punctual_cdr::{ByteOrder, GiopVersion, Limits};

use crate::header::{MessageHeader, MessageKind};
use crate::numbers::{either, number};
use crate::reply::ReplyStatus;
use crate::request::ResponseFlags;
use crate::service_context::ServiceContexts;

/// Size of the GIOP header and reply header of a reply without service contexts, in bytes.
const REPLY_HEAD: usize = MessageHeader::LEN + 12;
/// Size of a plain request's head up to its object key, in bytes.
const REQUEST_HEAD: usize = MessageHeader::LEN + 16;
/// Offset of the part after the request id, which is equal in successive requests.
const BEHIND_ID: usize = MessageHeader::LEN + 4;

/// Returns the first eight bytes of an unfragmented message of GIOP 1.2, as a number.
const fn start(order: ByteOrder, kind: MessageKind) -> u64 {
    let header = MessageHeader::new(GiopVersion::V1_2, order, kind, 0).to_octets();
    let [a, b, c, d, e, f, g, h, ..] = header;
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// Returns byte order, status and body offset if `received` is exactly one whole plain message, the
/// reply to `request_id`.
#[inline]
#[must_use]
pub fn match_plain_reply(
    received: &[u8],
    request_id: u32,
) -> Option<(ByteOrder, ReplyStatus, usize)> {
    let head: &[u8; REPLY_HEAD] = received.first_chunk()?;
    let (begin, numbers) = head.split_first_chunk()?;
    let numbers = numbers.first_chunk()?;
    let begin = u64::from_ne_bytes(*begin);
    let (native, foreign) = (ByteOrder::NATIVE, ByteOrder::NATIVE.other());
    let length = received.len() - MessageHeader::LEN;
    if begin == start(native, MessageKind::Reply) {
        let (status, contexts) = own_status::<true>(numbers, length, request_id)?;
        Some((native, status, body::<true>(contexts, received)?))
    } else if begin == start(foreign, MessageKind::Reply) {
        let (status, contexts) = own_status::<false>(numbers, length, request_id)?;
        Some((foreign, status, body::<false>(contexts, received)?))
    } else {
        None
    }
}

/// Returns the offset of the body of a reply that has no context, or a single short one.
#[inline]
fn body<const NATIVE: bool>(contexts: u32, received: &[u8]) -> Option<usize> {
    match contexts {
        0 => return Some(REPLY_HEAD),
        1 => {}
        _ => return None,
    }
    let context: &[u8; 8] = received.get(REPLY_HEAD..)?.first_chunk()?;
    let [_, _, _, _, l0, l1, l2, l3] = *context;
    let length = number::<NATIVE>([l0, l1, l2, l3]) as usize;
    let end = REPLY_HEAD + 8 + length.min(LONGEST_CONTEXT);
    if length > LONGEST_CONTEXT || end > received.len() {
        return None;
    }
    // Without a body there may be padding, or part of it.
    Some(((end + 7) & !7).min(received.len()))
}

/// Returns the status of the reply to a request, and the number of its service contexts.
#[inline]
fn own_status<const NATIVE: bool>(
    numbers: &[u8; 16],
    length: usize,
    request_id: u32,
) -> Option<(ReplyStatus, u32)> {
    let [
        z0,
        z1,
        z2,
        z3,
        i0,
        i1,
        i2,
        i3,
        s0,
        s1,
        s2,
        s3,
        c0,
        c1,
        c2,
        c3,
    ] = *numbers;
    let is_own = number::<NATIVE>([z0, z1, z2, z3]) as usize == length
        && number::<NATIVE>([i0, i1, i2, i3]) == request_id;
    let contexts = number::<NATIVE>([c0, c1, c2, c3]);
    match number::<NATIVE>([s0, s1, s2, s3]) {
        0 if is_own => Some((ReplyStatus::NoException, contexts)),
        1 if is_own => Some((ReplyStatus::UserException, contexts)),
        _ => None,
    }
}

/// Returns the content of a plain reply's head: request id, status, and body offset. `message` is
/// the whole message, beginning with `header`.
#[inline]
#[must_use]
pub fn parse_plain_reply(
    header: &MessageHeader,
    message: &[u8],
) -> Option<(u32, ReplyStatus, usize)> {
    if header.kind != MessageKind::Reply || header.version != GiopVersion::V1_2 {
        return None;
    }
    let head: &[u8; REPLY_HEAD] = message.first_chunk()?;
    let [.., i0, i1, i2, i3, s0, s1, s2, s3, 0, 0, 0, 0] = *head else {
        return None;
    };
    let number = match header.order.is_native() {
        true => number::<true>,
        false => number::<false>,
    };
    let status = ReplyStatus::from_number(number([s0, s1, s2, s3]), header.version)?;
    // The body is aligned to 8, and so begins right here.
    Some((number([i0, i1, i2, i3]), status, REPLY_HEAD))
}

/// Header of a GIOP 1.2 request that is unfragmented and has few service contexts, or of a GIOPlite
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainRequest<'m> {
    /// Request id, which the reply repeats.
    pub request_id: u32,
    /// Response flags: the kind of reply that the client expects.
    pub response: ResponseFlags,
    /// Object key of the called object.
    pub object_key: &'m [u8],
    /// Name of the called operation, as in IDL.
    pub operation: &'m str,
    /// Service contexts, if there are any: ids, lengths and data, as encoded, and their number.
    pub(crate) contexts: Option<(&'m [u8], usize)>,
    /// Byte order in which the request is encoded.
    pub order: ByteOrder,
    /// Offset in the message from which alignment counts, in bytes.
    pub origin: usize,
    /// Offset of the request body from the origin, in bytes.
    pub body: usize,
}

impl<'m> PlainRequest<'m> {
    /// Returns the service contexts of the request.
    #[inline]
    #[must_use]
    pub fn contexts(&self) -> ServiceContexts<'m> {
        match self.contexts {
            None => ServiceContexts::none(),
            Some((octets, count)) => ServiceContexts::received(octets, self.order, count),
        }
    }
}

/// Reader of plain requests, which caches what they nearly always have in common: their begin, up
/// to the length of their keys, and the names of their operations. So the cost of a request depends
/// neither on its object nor, up to some hundred operations, on its operation.
#[derive(Clone, Debug)]
pub struct PlainRequests {
    /// First bytes, before the size; 0 while nothing is cached.
    begin: u64,
    order: ByteOrder,
    /// Encoded bytes between the request id and the object key of the cached request.
    front: [u8; FRONT],
    key_length: usize,
    /// Length of the object key with its padding, in bytes.
    key_room: usize,
    operations: Operations,
}

/// Size of the part with response flags, reserved bytes, disposition, padding, the key's length.
const FRONT: usize = REQUEST_HEAD - BEHIND_ID;

impl Default for PlainRequests {
    fn default() -> Self {
        Self {
            begin: 0,
            order: ByteOrder::NATIVE,
            front: [0; FRONT],
            // No limit allows it: no request is plain before one has been cached.
            key_length: usize::MAX,
            key_room: 0,
            operations: Operations::default(),
        }
    }
}

impl PlainRequests {
    /// Returns the request if `received` is exactly one whole plain request. Allocates only for
    /// operations that were not seen before.
    #[inline]
    pub fn read<'m>(&'m mut self, received: &'m [u8], limits: &Limits) -> Option<PlainRequest<'m>> {
        let (first, rest) = received.split_first_chunk::<BEHIND_ID>()?;
        let [
            b0,
            b1,
            b2,
            b3,
            b4,
            b5,
            b6,
            b7,
            z0,
            z1,
            z2,
            z3,
            i0,
            i1,
            i2,
            i3,
        ] = *first;
        let begin = u64::from_ne_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
        let (front, rest) = rest.split_first_chunk::<FRONT>()?;
        if begin != self.begin || *front != self.front {
            self.learn(begin, front)?;
        }
        let native = self.order.is_native();
        if either([z0, z1, z2, z3], native) as usize != received.len() - MessageHeader::LEN
            || received.len() > limits.message
            // The cached head may have been checked against other limits. One that allows no sequence allows no context.
            || self.key_length >= limits.sequence
        {
            return None;
        }
        let (key, behind) = rest.split_at_checked(self.key_room)?;
        let operation = self.operations.known(behind, native)?;
        let name = operation.octets.len();
        // Id and length of the first precede its data.
        let (contexts, context_room) = match operation.contexts {
            KnownContexts::None => (None, 0),
            KnownContexts::One { length, room } => {
                (Some((behind.get(name - 8..name + length)?, 1)), room)
            }
            KnownContexts::Several { count, .. } if count > limits.sequence => return None,
            KnownContexts::Several { count, room } => {
                let octets = contexts::several((count, room), behind.get(name - 8..)?, native)?;
                (Some((octets, count)), octets.len().next_multiple_of(4) - 8)
            }
        };
        let head = FRONT + self.key_room + name + context_room;
        if operation.name.len() > limits.string || head > LONGEST {
            return None;
        }
        Some(PlainRequest {
            request_id: either([i0, i1, i2, i3], native),
            response: ResponseFlags(front[0]),
            object_key: key.get(..self.key_length)?,
            operation: &operation.name,
            contexts,
            order: self.order,
            origin: 0,
            // Without a body there may be padding, or part of it.
            body: ((BEHIND_ID + head + 7) & !7).min(received.len()),
        })
    }

    /// Caches the beginning of a request, if that is plain.
    #[cold]
    fn learn(&mut self, begin: u64, front: &[u8; FRONT]) -> Option<()> {
        // Until then every request is refused that looks like the cached one.
        (self.begin, self.key_length) = (0, usize::MAX);
        let orders = [ByteOrder::NATIVE, ByteOrder::NATIVE.other()];
        let order = orders
            .into_iter()
            .find(|order| begin == start(*order, MessageKind::Request))?;
        // Reserved bytes and padding are ignored.
        let [_, _, _, _, 0, 0, _, _, key_length @ ..] = *front else {
            return None;
        };
        let key_length = either(key_length, order.is_native()) as usize;
        self.key_room = key_length.checked_next_multiple_of(4)?;
        if order != self.order {
            // Their lengths are in the other byte order.
            self.operations = Operations::default();
        }
        (self.order, self.front) = (order, *front);
        (self.begin, self.key_length) = (begin, key_length);
        Some(())
    }
}
