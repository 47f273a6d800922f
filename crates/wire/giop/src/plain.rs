//! Messages of the usual kind, told at a glance: GIOP 1.2, whole, not fragmented, without service contexts,
//! a request to an object key, a reply with results or a user exception.
//!
//! Nearly all messages of a warm connection are of this kind. What is not, well-formed or not, is `None`
//! here, and goes through [`crate::examine`] and the headers' own decoders, which tell more. Whatever
//! those check is checked here too.
//!
//! ```text
//! request  0 header 12  id 16  response, reserved 20  disposition 0, padding 24  key …  operation …  0
//! reply    0 header 12  id 16  status 20  0
//! ```

use punctual_cdr::{ByteOrder, GiopVersion, Limits};

use crate::header::{MessageHeader, MessageKind};
use crate::reply::ReplyStatus;
use crate::request::ResponseFlags;

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
        let status = own_status::<true>(numbers, length, request_id)?;
        Some((native, status, REPLY_HEAD))
    } else if begin == start(foreign, MessageKind::Reply) {
        let status = own_status::<false>(numbers, length, request_id)?;
        Some((foreign, status, REPLY_HEAD))
    } else {
        None
    }
}

#[inline]
fn own_status<const NATIVE: bool>(
    numbers: &[u8; 16],
    length: usize,
    request_id: u32,
) -> Option<ReplyStatus> {
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
        contexts @ ..,
    ] = *numbers;
    let is_own = number::<NATIVE>([z0, z1, z2, z3]) as usize == length
        && number::<NATIVE>([i0, i1, i2, i3]) == request_id
        && contexts == [0; 4];
    match number::<NATIVE>([s0, s1, s2, s3]) {
        0 if is_own => Some(ReplyStatus::NoException),
        1 if is_own => Some(ReplyStatus::UserException),
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
    /// The byte order.
    pub order: ByteOrder,
    /// Where the body begins.
    pub body: usize,
}

/// Reads plain requests, and remembers the last one's head: the next is nearly always the same but for
/// its id.
#[derive(Clone, Debug)]
pub struct PlainRequests {
    /// The first octets, before the size.
    begin: u64,
    order: ByteOrder,
    /// What followed the id, up to the body's padding; empty while nothing is remembered.
    head: Vec<u8>,
    key_length: usize,
    operation: String,
}

/// Heads longer than this are not remembered.
const REMEMBERED: usize = 256;

impl Default for PlainRequests {
    fn default() -> Self {
        Self {
            begin: 0,
            order: ByteOrder::NATIVE,
            head: Vec::new(),
            key_length: 0,
            operation: String::new(),
        }
    }
}

impl PlainRequests {
    /// What `received` asks for, if it is one whole message and nothing else, a request, and plain.
    /// Allocates only when heads grow longer than any before.
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
        let same = rest.get(..self.head.len());
        if begin != self.begin || same != Some(&*self.head) || self.head.is_empty() {
            self.learn(begin, received, limits)?;
        }
        let number = match self.order.is_native() {
            true => number::<true>,
            false => number::<false>,
        };
        if number([z0, z1, z2, z3]) as usize != received.len() - MessageHeader::LEN
            || received.len() > limits.message
            // Those it was learnt under may have been another's.
            || self.key_length > limits.sequence
            || self.operation.len() > limits.string
        {
            return None;
        }
        let response = *self.head.first()?;
        let key = received.get(REQUEST_HEAD..)?;
        let end = BEHIND_ID + self.head.len();
        Some(PlainRequest {
            request_id: number([i0, i1, i2, i3]),
            response: ResponseFlags(response),
            object_key: key.get(..self.key_length)?,
            operation: &self.operation,
            order: self.order,
            // Where there is no body there may be padding, or part of it.
            body: end.next_multiple_of(8).min(received.len()),
        })
    }

    /// Reads a head, and remembers it if it is plain.
    #[cold]
    fn learn(&mut self, begin: u64, received: &[u8], limits: &Limits) -> Option<()> {
        self.head.clear();
        let (native, foreign) = (ByteOrder::NATIVE, ByteOrder::NATIVE.other());
        let (order, number) = if begin == start(native, MessageKind::Request) {
            (native, number::<true> as fn([u8; 4]) -> u32)
        } else if begin == start(foreign, MessageKind::Request) {
            (foreign, number::<false> as fn([u8; 4]) -> u32)
        } else {
            return None;
        };
        let (head, behind) = received.split_first_chunk::<REQUEST_HEAD>()?;
        // Reserved octets and padding are not looked at.
        let (_, [_, _, _, _, 0, 0, _, _, key_length @ ..]) = head.split_at(BEHIND_ID) else {
            return None;
        };
        let key_length = number(*key_length.first_chunk()?) as usize;
        if key_length > limits.sequence {
            return None;
        }
        let behind = behind.get(key_length.checked_next_multiple_of(4)?..)?;
        let (name_length, behind) = behind.split_first_chunk()?;
        let name_length = number(*name_length) as usize;
        // The limit counts without the NUL.
        if name_length > limits.string.saturating_add(1) {
            return None;
        }
        let (name, _) = behind.split_at_checked(name_length)?;
        let (0, name) = name.split_last()? else {
            return None;
        };
        let name = std::str::from_utf8(name).ok()?;
        if name.contains('\0') {
            return None;
        }
        let behind = behind.get(name_length.checked_next_multiple_of(4)?..)?;
        let ([0, 0, 0, 0], behind) = behind.split_first_chunk()? else {
            return None;
        };
        let end = received.len() - behind.len();
        let head = received.get(BEHIND_ID..end)?;
        if head.len() > REMEMBERED {
            return None;
        }
        (self.begin, self.order, self.key_length) = (begin, order, key_length);
        self.head.extend_from_slice(head);
        self.operation.clear();
        self.operation.push_str(name);
        Some(())
    }
}
