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
    operations: OperationNames,
}

/// Response flags, reserved octets, disposition, padding, the key's length.
const FRONT: usize = REQUEST_HEAD - BEHIND_ID;
/// Heads longer than this are not plain.
const LONGEST: usize = 256;

impl Default for PlainRequests {
    fn default() -> Self {
        Self {
            begin: 0,
            order: ByteOrder::NATIVE,
            front: [0; FRONT],
            key_length: 0,
            key_room: 0,
            operations: OperationNames::default(),
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
        let number = match self.order.is_native() {
            true => number::<true>,
            false => number::<false>,
        };
        if number([z0, z1, z2, z3]) as usize != received.len() - MessageHeader::LEN
            || received.len() > limits.message
            // What was learnt may have been under another's.
            || self.key_length > limits.sequence
        {
            return None;
        }
        let (key, rest) = rest.split_at_checked(self.key_room)?;
        let (name_length, rest) = rest.split_first_chunk()?;
        let name_length = number(*name_length) as usize;
        let (name, padded) = rest.split_at_checked(name_length)?;
        let (0, name) = name.split_last()? else {
            return None;
        };
        let padding = name_length.next_multiple_of(4) - name_length;
        let (contexts, _) = padded.get(padding..)?.split_first_chunk()?;
        let end = REQUEST_HEAD + self.key_room + 4 + name_length + padding + contexts.len();
        if *contexts != [0; 4] || name.len() > limits.string || end - BEHIND_ID > LONGEST {
            return None;
        }
        Some(PlainRequest {
            request_id: number([i0, i1, i2, i3]),
            response: ResponseFlags(self.front[0]),
            object_key: key.get(..self.key_length)?,
            operation: self.operations.known(name, rest.first_chunk()?)?,
            order: self.order,
            // Where there is no body there may be padding, or part of it.
            body: end.next_multiple_of(8).min(received.len()),
        })
    }

    /// Remembers how a request begins, if it is plain so far.
    #[cold]
    fn learn(&mut self, begin: u64, front: &[u8; FRONT]) -> Option<()> {
        self.begin = 0;
        let (native, foreign) = (ByteOrder::NATIVE, ByteOrder::NATIVE.other());
        let (order, number) = if begin == start(native, MessageKind::Request) {
            (native, number::<true> as fn([u8; 4]) -> u32)
        } else if begin == start(foreign, MessageKind::Request) {
            (foreign, number::<false> as fn([u8; 4]) -> u32)
        } else {
            return None;
        };
        // Reserved octets and padding are not looked at.
        let [_, _, _, _, 0, 0, _, _, key_length @ ..] = *front else {
            return None;
        };
        let key_length = number(key_length) as usize;
        self.key_room = key_length.checked_next_multiple_of(4)?;
        (self.order, self.key_length, self.front) = (order, key_length, *front);
        self.begin = begin;
        Some(())
    }
}

/// Names of operations that were found to be names, in sets of two. It grows while a set is too small, and
/// then forgets the older one.
#[derive(Clone, Debug, Default)]
struct OperationNames(Vec<[Box<str>; 2]>);

impl OperationNames {
    /// Sets, at most. With [`LONGEST`] this bounds what a peer makes a thread remember: 128 KiB.
    const MOST: usize = 256;

    /// `name`, if it is text without NUL. `begin` is its first octets, and what follows if it is shorter.
    #[inline]
    fn known(&mut self, name: &[u8], begin: &[u8; 8]) -> Option<&str> {
        let mark = Self::mark(name, begin);
        let mut place = Self::place(mark, self.0.len());
        let mut way = 0;
        match self.0.get(place) {
            Some([one, _]) if one.as_bytes() == name => {}
            Some([_, other]) if other.as_bytes() == name => way = 1,
            _ => {
                self.learn(name, mark)?;
                place = Self::place(mark, self.0.len());
            }
        }
        let known = self.0.get(place)?.get(way)?;
        Some(known)
    }

    #[cold]
    fn learn(&mut self, name: &[u8], mark: u64) -> Option<()> {
        let name = std::str::from_utf8(name).ok()?;
        if name.contains('\0') {
            return None;
        }
        let set = self.0.get(Self::place(mark, self.0.len()));
        let is_full = set.is_none_or(|[_, older]| !older.is_empty());
        if is_full && self.0.len() < Self::MOST {
            // Those that were known are learnt again, at other places.
            let sets = (self.0.len() * 2).max(1);
            self.0.clear();
            self.0.resize_with(sets, Default::default);
        }
        let place = Self::place(mark, self.0.len());
        let [newer, older] = self.0.get_mut(place)?;
        *older = std::mem::replace(newer, name.into());
        Some(())
    }

    /// Names differ at their ends: both go into it, and the length.
    #[inline]
    fn mark(name: &[u8], begin: &[u8; 8]) -> u64 {
        let end = name.last_chunk().unwrap_or(begin);
        let ends = u64::from_le_bytes(*begin) ^ u64::from_le_bytes(*end).rotate_left(23);
        (ends ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// From the upper bits, which all octets have a part in. `places` is a power of two, or 0.
    #[inline]
    fn place(mark: u64, places: usize) -> usize {
        (mark >> 48) as u16 as usize & places.wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &mut OperationNames, name: &str) -> bool {
        let behind = [name.as_bytes(), &[0; 8]].concat();
        let begin = behind.first_chunk().unwrap();
        names.known(name.as_bytes(), begin) == Some(name)
    }

    fn remembered(names: &OperationNames) -> usize {
        let all = names.0.iter().flatten();
        all.filter(|name| !name.is_empty()).count()
    }

    #[test]
    fn a_hundred_operations_of_one_interface_are_remembered_but_for_a_few() {
        let mut names = OperationNames::default();
        for _ in 0..20 {
            for number in 0..100 {
                assert!(known(&mut names, &format!("operation_{number:02}")));
            }
        }
        assert!(remembered(&names) >= 95, "{}", remembered(&names));
    }

    #[test]
    fn one_operation_takes_one_place_and_any_number_no_more_than_there_may_be() {
        let mut names = OperationNames::default();
        for _ in 0..3 {
            assert!(known(&mut names, "ping"));
        }
        assert_eq!((names.0.len(), remembered(&names)), (1, 1));
        for number in 0..10_000 {
            assert!(known(&mut names, &number.to_string()));
        }
        assert_eq!(names.0.len(), OperationNames::MOST);
    }

    #[test]
    fn what_is_no_text_is_never_known() {
        let mut names = OperationNames::default();
        assert_eq!(names.known(b"a\0b", b"a\0b\0\0\0\0\0"), None);
        assert_eq!(names.known(b"\xff", b"\xff\0\0\0\0\0\0\0"), None);
        assert_eq!(remembered(&names), 0);
    }
}
