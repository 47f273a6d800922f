//! Messages of the usual kind, told at a glance: GIOP 1.2, whole, not fragmented, with no service context or
//! a single short one, a request to an object key, a reply with results or a user exception.
//!
//! Nearly all messages of a warm connection are of this kind. What is not, well-formed or not, is `None`
//! here, and goes through [`crate::examine`] and the headers' own decoders, which tell more. Whatever
//! those check is checked here too.
//!
//! ```text
//! request  0 header 12  id 16  response, reserved 20  disposition 0, padding 24  key …  operation …  0
//! reply    0 header 12  id 16  status 20  0
//! ```
//! In the place of the last 0, the number of contexts, there may be a 1, the context's id, its length and data.

mod operations;

use operations::Operations;
use punctual_cdr::{ByteOrder, GiopVersion, Limits};

use crate::header::{MessageHeader, MessageKind};
use crate::reply::ReplyStatus;
use crate::request::ResponseFlags;
use crate::service_context::ServiceContexts;

/// Octets of a plain reply's head.
const REPLY_HEAD: usize = MessageHeader::LEN + 12;
/// Octets of a plain request's head up to its object key.
const REQUEST_HEAD: usize = MessageHeader::LEN + 16;
/// Where what stays the same from request to request begins.
const BEHIND_ID: usize = MessageHeader::LEN + 4;

/// The first eight octets of an unfragmented message of GIOP 1.2.
const fn start(order: ByteOrder, kind: MessageKind) -> u64 {
    let header = MessageHeader::new(GiopVersion::V1_2, order, kind, 0).to_octets();
    let [a, b, c, d, e, f, g, h, ..] = header;
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// A number in the machine's byte order, or in the other.
#[inline]
fn number<const NATIVE: bool>(octets: [u8; 4]) -> u32 {
    let number = u32::from_ne_bytes(octets);
    if NATIVE { number } else { number.swap_bytes() }
}

/// The same, told when it runs.
#[inline]
fn either(octets: [u8; 4], native: bool) -> u32 {
    match native {
        true => number::<true>(octets),
        false => number::<false>(octets),
    }
}

/// Whether `received` is one whole message and nothing else, the reply to `request_id`, and plain. Its
/// byte order, its status, and where its body begins.
#[inline]
#[must_use]
pub fn own_reply(received: &[u8], request_id: u32) -> Option<(ByteOrder, ReplyStatus, usize)> {
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

/// Where the body of a reply begins that has no context, or a single short one.
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
    // Where there is no body there may be padding, or part of it.
    Some(((end + 7) & !7).min(received.len()))
}

/// The status of the reply to a request, and how many service contexts it has.
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

/// What a plain reply's head says: request id, status, and where its body begins. `message` is the whole
/// message, of which `header` is the first part.
#[inline]
#[must_use]
pub fn glance_at_reply(
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

/// What a plain request says before its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainRequest<'m> {
    /// What the reply will refer to.
    pub request_id: u32,
    /// Which answer is wanted.
    pub response: ResponseFlags,
    /// The object that is called.
    pub object_key: &'m [u8],
    /// The operation's name in IDL.
    pub operation: &'m str,
    /// The service context, if there is one: its id, its length and its data, as they travel.
    context: Option<&'m [u8]>,
    /// The byte order.
    pub order: ByteOrder,
    /// Where the body begins.
    pub body: usize,
}

impl<'m> PlainRequest<'m> {
    /// The service contexts: none, or one.
    #[inline]
    #[must_use]
    pub fn contexts(&self) -> ServiceContexts<'m> {
        match self.context {
            None => ServiceContexts::none(),
            Some(octets) => ServiceContexts::received(octets, self.order, 1),
        }
    }
}

/// Reads plain requests, and remembers what they nearly always have in common: how they begin, up to the
/// length of their keys, and the names of their operations. So it makes no difference to what a request costs
/// which object it is for, nor, of up to some hundred operations, for which.
#[derive(Clone, Debug)]
pub struct PlainRequests {
    /// The first octets, before the size; 0 while nothing is remembered.
    begin: u64,
    order: ByteOrder,
    /// What followed the id, up to the key.
    front: [u8; FRONT],
    key_length: usize,
    /// With its padding.
    key_room: usize,
    operations: Operations,
}

/// Response flags, reserved octets, disposition, padding, the key's length.
const FRONT: usize = REQUEST_HEAD - BEHIND_ID;
/// Heads longer than this are not plain.
const LONGEST: usize = 256;
/// Contexts whose data are longer are not short.
const LONGEST_CONTEXT: usize = 64;

impl Default for PlainRequests {
    fn default() -> Self {
        Self {
            begin: 0,
            order: ByteOrder::NATIVE,
            front: [0; FRONT],
            // No limit allows it: nothing is plain before something was learnt.
            key_length: usize::MAX,
            key_room: 0,
            operations: Operations::default(),
        }
    }
}

impl PlainRequests {
    /// What `received` asks for, if it is one whole message and nothing else, a request, and plain.
    /// Allocates only for operations that were not seen before.
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
            // What was learnt may have been under another's.
            || self.key_length > limits.sequence
        {
            return None;
        }
        let (key, behind) = rest.split_at_checked(self.key_room)?;
        let operation = self.operations.known(behind, native)?;
        let name = operation.octets.len();
        let (context, context_room) = match operation.context {
            None => (None, 0),
            // Id and length stand before it.
            Some((length, room)) => (Some(behind.get(name - 8..name + length)?), room),
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
            context,
            order: self.order,
            // Where there is no body there may be padding, or part of it.
            body: ((BEHIND_ID + head + 7) & !7).min(received.len()),
        })
    }

    /// Remembers how a request begins, if it is plain so far.
    #[cold]
    fn learn(&mut self, begin: u64, front: &[u8; FRONT]) -> Option<()> {
        // Whatever looks like what is remembered then is refused.
        (self.begin, self.key_length) = (0, usize::MAX);
        let orders = [ByteOrder::NATIVE, ByteOrder::NATIVE.other()];
        let order = orders
            .into_iter()
            .find(|order| begin == start(*order, MessageKind::Request))?;
        // Reserved octets and padding are not looked at.
        let [_, _, _, _, 0, 0, _, _, key_length @ ..] = *front else {
            return None;
        };
        let key_length = either(key_length, order.is_native()) as usize;
        self.key_room = key_length.checked_next_multiple_of(4)?;
        if order != self.order {
            // Their lengths are in the other order.
            self.operations = Operations::default();
        }
        (self.order, self.front) = (order, *front);
        (self.begin, self.key_length) = (begin, key_length);
        Some(())
    }
}
