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
    operations: Operations,
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
        let head = FRONT + self.key_room + operation.octets.len();
        if operation.name.len() > limits.string || head > LONGEST {
            return None;
        }
        Some(PlainRequest {
            request_id: either([i0, i1, i2, i3], native),
            response: ResponseFlags(front[0]),
            object_key: key.get(..self.key_length)?,
            operation: &operation.name,
            order: self.order,
            // Where there is no body there may be padding, or part of it.
            body: (BEHIND_ID + head).next_multiple_of(8).min(received.len()),
        })
    }

    /// Remembers how a request begins, if it is plain so far.
    #[cold]
    fn learn(&mut self, begin: u64, front: &[u8; FRONT]) -> Option<()> {
        self.begin = 0;
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
        (self.order, self.key_length, self.front) = (order, key_length, *front);
        self.begin = begin;
        Some(())
    }
}

/// What was found to follow keys: names of operations and no contexts. In sets of two; it grows while a set is
/// too small, and then forgets the older one.
#[derive(Clone, Debug, Default)]
struct Operations(Vec<[KnownOperation; 2]>);

/// The name of an operation.
#[derive(Clone, Debug, Default)]
struct KnownOperation {
    /// From its length to the contexts, as it travels; empty where none is known.
    octets: Box<[u8]>,
    name: Box<str>,
    mark: u64,
}

impl Operations {
    /// Sets, at most. With [`LONGEST`] this bounds what a peer makes a thread remember: about half a MiB.
    const MOST: usize = 512;

    /// What `behind` begins with, if it is the name of an operation and no contexts.
    #[inline]
    fn known(&mut self, behind: &[u8], native: bool) -> Option<&KnownOperation> {
        let mark = Self::mark(behind, native)?;
        let mut place = Self::place(mark, self.0.len());
        let mut way = 0;
        match self.0.get(place) {
            Some([newer, _]) if newer.begins(behind, mark) => {}
            Some([_, older]) if older.begins(behind, mark) => way = 1,
            _ => {
                self.learn(behind, native, mark)?;
                place = Self::place(mark, self.0.len());
            }
        }
        self.0.get(place)?.get(way)
    }

    #[cold]
    fn learn(&mut self, behind: &[u8], native: bool, mark: u64) -> Option<()> {
        let learnt = KnownOperation::read(behind, native, mark)?;
        let set = self.0.get(Self::place(mark, self.0.len()));
        let is_full = set.is_none_or(|[_, older]| !older.octets.is_empty());
        if is_full && self.0.len() < Self::MOST {
            // Those that were known are learnt again, at other places.
            let sets = (self.0.len() * 2).max(1);
            self.0.clear();
            self.0.resize_with(sets, Default::default);
        }
        let place = Self::place(mark, self.0.len());
        let [newer, older] = self.0.get_mut(place)?;
        *older = std::mem::replace(newer, learnt);
        Some(())
    }

    /// Names differ at their ends: both go into it, and the length.
    #[inline]
    fn mark(behind: &[u8], native: bool) -> Option<u64> {
        let begin: &[u8; 8] = behind.first_chunk()?;
        let [l0, l1, l2, l3, ..] = *begin;
        let length = either([l0, l1, l2, l3], native) as usize;
        let end = behind.get(..length.checked_add(4)?)?.last_chunk();
        let end = u64::from_le_bytes(*end.unwrap_or(begin));
        let ends = u64::from_le_bytes(*begin) ^ end.rotate_left(23);
        Some(ends.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// From the upper bits, which all octets have a part in. `places` is a power of two, or 0.
    #[inline]
    fn place(mark: u64, places: usize) -> usize {
        (mark >> 48) as u16 as usize & places.wrapping_sub(1)
    }
}

impl KnownOperation {
    #[inline]
    fn begins(&self, behind: &[u8], mark: u64) -> bool {
        self.mark == mark
            && behind.get(..self.octets.len()) == Some(&*self.octets)
            && !self.octets.is_empty()
    }

    fn read(behind: &[u8], native: bool, mark: u64) -> Option<Self> {
        let (length, rest) = behind.split_first_chunk()?;
        let length = either(*length, native) as usize;
        let (name, _) = rest.split_at_checked(length)?;
        let (0, name) = name.split_last()? else {
            return None;
        };
        let name = std::str::from_utf8(name).ok()?;
        let rest = rest.get(length.checked_next_multiple_of(4)?..)?;
        let ([0, 0, 0, 0], rest) = rest.split_first_chunk()? else {
            return None;
        };
        let octets = behind.get(..behind.len() - rest.len())?;
        let is_short = octets.len() <= LONGEST && !name.contains('\0');
        is_short.then(|| Self {
            octets: octets.into(),
            name: name.into(),
            mark,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it travels, behind a key.
    fn octets(name: &[u8]) -> Vec<u8> {
        let length = u32::try_from(name.len() + 1).unwrap();
        let mut octets = [&length.to_ne_bytes(), name, &[0]].concat();
        octets.resize(octets.len().next_multiple_of(4) + 4, 0);
        octets
    }

    fn is_known(operations: &mut Operations, name: &str) -> bool {
        let behind = [octets(name.as_bytes()), vec![7; 3]].concat();
        let known = operations.known(&behind, true).unwrap();
        *known.name == *name && known.octets.len() + 3 == behind.len()
    }

    fn remembered(operations: &Operations) -> usize {
        let all = operations.0.iter().flatten();
        all.filter(|known| !known.octets.is_empty()).count()
    }

    #[test]
    fn a_hundred_operations_of_one_interface_are_remembered_but_for_a_few() {
        let mut operations = Operations::default();
        for _ in 0..20 {
            for number in 0..100 {
                assert!(is_known(&mut operations, &format!("operation_{number:02}")));
            }
        }
        let remembered = remembered(&operations);
        assert!(remembered >= 95, "{remembered}");
    }

    #[test]
    fn one_operation_takes_one_place_and_any_number_no_more_than_there_may_be() {
        let mut operations = Operations::default();
        for _ in 0..3 {
            assert!(is_known(&mut operations, "ping"));
        }
        assert_eq!((operations.0.len(), remembered(&operations)), (1, 1));
        for number in 0..10_000 {
            assert!(is_known(&mut operations, &number.to_string()));
        }
        assert_eq!(operations.0.len(), Operations::MOST);
    }

    #[test]
    fn what_is_no_name_is_never_known() {
        let mut operations = Operations::default();
        let unended = [&8_u32.to_ne_bytes()[..], b"unended!", &[0; 4]].concat();
        for wrong in [
            octets(b"a\0b"),
            octets(b"\xff"),
            octets(&[b'a'; LONGEST]),
            unended,
            vec![0; 12],
            vec![0xff; 64],
        ] {
            assert!(operations.known(&wrong, true).is_none(), "{wrong:?}");
        }
        assert_eq!(remembered(&operations), 0);
    }
}
