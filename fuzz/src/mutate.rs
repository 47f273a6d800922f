//! Mutations that leave inputs valid messages: a random change in a header usually ends a
//! conversation there, so that the following data is never read.
//!
//! An input of messages is cut into them, one is changed, and its length is corrected. The changes
//! within are libFuzzer's own, which knows what the code has compared.

use punctual_any::{Label, TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual_giop::lite::Kind;

/// Function that mutates the first bytes of a buffer in place, given their number, and returns the
/// new number.
pub type Bytes = fn(&mut [u8], usize) -> usize;

/// Size of a GIOP header, in bytes.
const HEADER: usize = 12;

/// Format of a message, which determines how its length is encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Giop,
    /// Message of the sequenced-frames protocol.
    Frame,
    Lite,
}

impl Shape {
    /// Returns the format of the message at the start of the octets, or `None` if there is no
    /// message.
    fn of(octets: &[u8]) -> Option<Self> {
        match octets {
            [b'G', b'I', b'O', b'P', ..] if octets.len() >= HEADER => Some(Self::Giop),
            [b'P', b'U', b'N', b'F', ..] if octets.len() >= HEADER => Some(Self::Frame),
            // GIOPlite has no magic number: only possible values tell its messages from others.
            [a, b, c, d, kind, behind @ ..] if Kind::from_number(*kind).is_some() => {
                let length = u32::from_ne_bytes([*a, *b, *c, *d]) as usize;
                (length <= behind.len()).then_some(Self::Lite)
            }
            _ => None,
        }
    }

    fn header(self) -> usize {
        match self {
            Self::Giop | Self::Frame => HEADER,
            Self::Lite => 5,
        }
    }

    /// Returns the offset of a message's length field, and the field's byte order.
    fn length(self, message: &[u8]) -> (usize, ByteOrder) {
        let flags = |at: usize| message.get(at).copied().unwrap_or_default();
        match self {
            Self::Giop => (8, ByteOrder::from_flag(flags(6))),
            Self::Frame => (8, ByteOrder::from_flag(flags(5))),
            Self::Lite => (0, ByteOrder::NATIVE),
        }
    }
}

/// Upper bound of the number of bytes by which one message may grow.
const GROWTH: usize = 64;
/// Upper bound of the number of messages in one input.
const MOST: usize = 8;

/// Generator of pseudo-random numbers from a seed (xorshift).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 1 | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }
}

/// Mutates an input that consists of `head` octets and messages of one protocol; further valid
/// messages are taken from `pool`.
pub fn messages(
    data: &mut [u8],
    size: usize,
    seed: u32,
    head: usize,
    pool: &[Vec<u8>],
    bytes: Bytes,
) -> usize {
    let mut random = Random::new(seed);
    // Now and then anything may change.
    if size < head || random.below(8) == 0 {
        return bytes(data, size);
    }
    let mut all = cut(&data[head..size]);
    let which = random.below(all.len());
    match random.below(10) {
        0 if !pool.is_empty() && all.len() < MOST => {
            let whole = pool[random.below(pool.len())].clone();
            all.extend(cut(&whole));
        }
        1 if all.len() > 1 => drop(all.remove(which)),
        2 if all.len() < MOST => all.extend(all.get(which).cloned()),
        3 if all.len() > 1 => all.swap(which, 0),
        4 => fragment(&mut all, which, &mut random),
        5 => {
            let at = random.below(head);
            if let Some(octet) = data.get_mut(at) {
                *octet = u8::try_from(random.below(256)).unwrap_or_default();
            }
        }
        6 => {
            // Version, flags, kind; of GIOPlite the kind.
            let lite = all.get(which).and_then(|one| Shape::of(one)) == Some(Shape::Lite);
            let place = 4 + if lite { 0 } else { random.below(4) };
            if let Some(octet) = all.get_mut(which).and_then(|one| one.get_mut(place)) {
                *octet = u8::try_from(random.below(9)).unwrap_or_default();
            }
        }
        _ => match all.get_mut(which) {
            Some(one) => match Shape::of(one) {
                Some(shape) if one.len() > shape.header() => change(one, shape, bytes),
                _ => return bytes(data, size),
            },
            _ => return bytes(data, size),
        },
    }
    put_back(data, head, &all)
}

/// Changes the bytes after a message's header, and corrects the length field.
fn change(message: &mut Vec<u8>, shape: Shape, bytes: Bytes) {
    let header = shape.header();
    let body = message.len() - header;
    message.resize(message.len() + GROWTH, 0);
    let length = bytes(&mut message[header..], body);
    message.truncate(header + length);
    set_length(message, shape);
}

/// Splits a message into two: the message with the flag for more fragments set, and a fragment with
/// the remaining bytes.
fn fragment(all: &mut Vec<Vec<u8>>, which: usize, random: &mut Random) {
    let is_giop = |one: &Vec<u8>| Shape::of(one) == Some(Shape::Giop);
    let first = all.get_mut(which).filter(|one| one.len() > HEADER + 8);
    let Some(first) = first.filter(|one| is_giop(one)) else {
        return;
    };
    let body = first.len() - HEADER;
    let at = HEADER + ((4 + random.below(body - 4)) & !7).max(4);
    let rest = first.split_off(at.min(first.len()));
    let mut second = first[..HEADER].to_vec();
    second[7] = 7;
    // The request's id, which stands first in a message of GIOP 1.2.
    if first[5] >= 2 {
        second.extend_from_slice(&first[HEADER..HEADER + 4]);
    }
    second.extend_from_slice(&rest);
    first[6] |= 2;
    set_length(first, Shape::Giop);
    set_length(&mut second, Shape::Giop);
    all.insert(which + 1, second);
}

fn set_length(message: &mut [u8], shape: Shape) {
    let length = message.len().saturating_sub(shape.header());
    let length = u32::try_from(length).unwrap_or_default();
    let (at, order) = shape.length(message);
    let octets = match order {
        ByteOrder::Little => length.to_le_bytes(),
        ByteOrder::Big => length.to_be_bytes(),
    };
    if let Some(place) = message.get_mut(at..at + 4) {
        place.copy_from_slice(&octets);
    }
}

/// Splits an input into messages by their length fields; the remaining bytes form the last one.
fn cut(mut octets: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while !octets.is_empty() && all.len() < 2 * MOST {
        let length = Shape::of(octets).map(|shape| {
            let (at, order) = shape.length(octets);
            let length = [octets[at], octets[at + 1], octets[at + 2], octets[at + 3]];
            let length = match order {
                ByteOrder::Little => u32::from_le_bytes(length),
                ByteOrder::Big => u32::from_be_bytes(length),
            };
            shape.header().saturating_add(length as usize)
        });
        let length = length.unwrap_or(octets.len());
        let (one, rest) = octets.split_at(length.min(octets.len()));
        all.push(one.to_vec());
        octets = rest;
    }
    all
}

fn put_back(data: &mut [u8], head: usize, all: &[Vec<u8>]) -> usize {
    let mut size = head;
    for octet in all.iter().flatten().take(data.len() - head) {
        data[size] = *octet;
        size += 1;
    }
    size
}

/// Replaces the octets of an Any by a random TypeCode and a matching value, or mutates the existing
/// octets.
pub fn any(data: &mut [u8], size: usize, seed: u32, bytes: Bytes) -> usize {
    let mut random = Random::new(seed);
    if size == 0 || random.below(6) != 0 {
        return bytes(data, size);
    }
    let order = ByteOrder::from_flag(data[0] & 1);
    let type_code = type_code(&mut random, 3);
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    let value = Value::default_of(&type_code).ok();
    let wants_value = data[0] & 2 != 0;
    let written = type_code.marshal(&mut out).and_then(|()| match value {
        Some(value) if wants_value => value.marshal(&type_code, &mut out),
        _ => Ok(()),
    });
    if written.is_err() {
        return bytes(data, size);
    }
    put_back(data, 1, &[out.into_block().to_vec()])
}

fn type_code(random: &mut Random, depth: usize) -> TypeCode {
    const PLAIN: [TypeCode; 12] = [
        TypeCode::LONG,
        TypeCode::STRING,
        TypeCode::OCTET,
        TypeCode::DOUBLE,
        TypeCode::BOOLEAN,
        TypeCode::SHORT,
        TypeCode::WSTRING,
        TypeCode::CHAR,
        TypeCode::WCHAR,
        TypeCode::ANY,
        TypeCode::TYPE_CODE,
        TypeCode::LONG_DOUBLE,
    ];
    if depth == 0 || random.below(5) == 0 {
        return PLAIN[random.below(PLAIN.len())].clone();
    }
    let id = ["IDL:a:1.0", "IDL:b:1.0", "IDL:c:1.0"][random.below(3)];
    let bound = u32::try_from(random.below(4)).unwrap_or_default();
    let mut part = || type_code(random, depth - 1);
    let (one, other) = (part(), part());
    match random.below(14) {
        8 => union(random, id, one, other),
        9 => TypeCode::interface(id, "i"),
        10 => TypeCode::abstract_interface(id, "i"),
        11 => TypeCode::string(bound),
        12 => TypeCode::wstring(bound),
        0 => TypeCode::sequence(&one, bound),
        1 => TypeCode::array(&one, bound + 1),
        2 => TypeCode::structure(id, "s", &[("one", one), ("other", other)]),
        3 => TypeCode::exception(id, "e", &[("one", one), ("other", other)]),
        4 => TypeCode::alias(id, "a", &one),
        5 => TypeCode::enumeration(id, "n", &["x", "y"]),
        6 => TypeCode::fixed(5, 2),
        7 => TypeCode::value_box(id, "b", &one),
        _ => {
            let public = Visibility::Public;
            let next = TypeCode::recursive(id);
            let members = [("one", one, public), ("next", next, public)];
            TypeCode::value(id, "v", ValueModifier::None, None, &members)
        }
    }
}

/// Returns a union type with a discriminator of any kind, with or without a default member.
fn union(random: &mut Random, id: &str, one: TypeCode, other: TypeCode) -> TypeCode {
    let color = TypeCode::enumeration("IDL:n:1.0", "n", &["x", "y"]);
    let kinds = [
        TypeCode::BOOLEAN,
        TypeCode::CHAR,
        TypeCode::WCHAR,
        TypeCode::OCTET,
        TypeCode::SHORT,
        TypeCode::USHORT,
        TypeCode::LONG,
        TypeCode::ULONG,
        TypeCode::LONG_LONG,
        TypeCode::ULONG_LONG,
        color,
    ];
    let last = [Label::from(0_u8), Label::Default][random.below(2)];
    let members = [(Label::from(1_u8), "one", one), (last, "other", other)];
    TypeCode::union_(id, "u", &kinds[random.below(kinds.len())], &members)
}

/// Replaces the input by a random graph of nodes, as [`crate::values`] reads it, with shared and
/// cyclic values and with or without chunks; or mutates the existing octets.
pub fn values(data: &mut [u8], size: usize, seed: u32, bytes: Bytes) -> usize {
    let mut random = Random::new(seed);
    if size == 0 || random.below(8) != 0 {
        return bytes(data, size);
    }
    let mut graph = Graph {
        order: ByteOrder::from_flag(data[0] & 1),
        octets: Vec::new(),
        places: Vec::new(),
        chunked: random.below(2) == 0,
        random,
    };
    graph.node(1);
    let octets = std::mem::take(&mut graph.octets);
    put_back(data, 1, &[octets])
}

/// Graph of valuetype nodes that is being encoded.
struct Graph {
    order: ByteOrder,
    octets: Vec<u8>,
    /// Offsets of the values that can be referred to.
    places: Vec<usize>,
    chunked: bool,
    random: Random,
}

impl Graph {
    fn word(&mut self, word: u32) {
        while !self.octets.len().is_multiple_of(4) {
            self.octets.push(0);
        }
        self.octets.extend_from_slice(&match self.order {
            ByteOrder::Big => word.to_be_bytes(),
            ByteOrder::Little => word.to_le_bytes(),
        });
    }

    fn text(&mut self, text: &str) {
        self.word(u32::try_from(text.len() + 1).unwrap_or_default());
        self.octets.extend_from_slice(text.as_bytes());
        self.octets.push(0);
    }

    /// Writes a node: nil, an indirection to an existing one, or a new one; `depth` is the depth of
    /// nesting.
    fn node(&mut self, depth: u32) {
        match self.random.below(6) {
            0 => return self.word(0),
            1 if !self.places.is_empty() => {
                let place = self.places[self.random.below(self.places.len())];
                self.word(0xffff_ffff);
                let back = self.octets.len() - place;
                let back = u32::try_from(back).unwrap_or_default();
                return self.word(back.wrapping_neg());
            }
            _ => {}
        }
        let longer = self.random.below(4) == 0;
        let tag = 0x7fff_ff00 | if self.chunked { 8 } else { 0 };
        let begin = self.octets.len().next_multiple_of(4);
        self.places.push(begin);
        match (longer, self.random.below(2)) {
            (false, 0) => self.word(tag),
            (false, _) => {
                self.word(tag | 2);
                self.text("IDL:fuzz/Node:1.0");
            }
            (true, _) => {
                self.word(tag | 6);
                self.word(2);
                self.text("IDL:fuzz/Longer:1.0");
                self.text("IDL:fuzz/Node:1.0");
            }
        }
        self.run(|graph| graph.word(depth));
        self.child(depth);
        let others = self.random.below(3);
        self.run(|graph| {
            graph.text("some");
            graph.word(u32::try_from(others).unwrap_or_default());
        });
        (0..others).for_each(|_| self.child(depth));
        if longer {
            self.run(|graph| {
                while !graph.octets.len().is_multiple_of(8) {
                    graph.octets.push(0);
                }
                graph.word(depth);
                graph.word(0);
                // A null Any.
                graph.word(0);
            });
        }
        if self.chunked {
            self.word(depth.wrapping_neg());
        }
    }

    fn child(&mut self, depth: u32) {
        match depth < 5 && self.octets.len() < 600 {
            true => self.node(depth + 1),
            false => self.word(0),
        }
    }

    /// Writes the data between nested values, as a chunk if the value is chunked.
    fn run(&mut self, write: impl FnOnce(&mut Self)) {
        if !self.chunked {
            return write(self);
        }
        self.word(0);
        let begin = self.octets.len();
        write(self);
        let length = u32::try_from(self.octets.len() - begin).unwrap_or_default();
        let length = match self.order {
            ByteOrder::Big => length.to_be_bytes(),
            ByteOrder::Little => length.to_le_bytes(),
        };
        self.octets[begin - 4..begin].copy_from_slice(&length);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> Vec<u8> {
        let mut message = b"GIOP\x01\x02\x00\x00\0\0\0\0".to_vec();
        message.extend_from_slice(body);
        set_length(&mut message, Shape::Giop);
        message
    }

    #[test]
    fn messages_of_each_protocol_are_cut_where_they_end_and_stay_whole() {
        for (shape, header) in [
            (Shape::Frame, b"PUNF\x01\x01\0\0\0\0\0\0".to_vec()),
            (Shape::Frame, b"PUNF\x01\x00\0\0\0\0\0\0".to_vec()),
            (Shape::Lite, vec![0, 0, 0, 0, Kind::Batch.number()]),
            (Shape::Lite, vec![0, 0, 0, 0, 0]),
        ] {
            let of = |body: &[u8]| {
                let mut message = [&header, body].concat();
                set_length(&mut message, shape);
                message
            };
            let all = [of(&[1; 24]), of(&[]), of(&[2; 9])];
            assert_eq!(cut(&all.concat()), all);
            let mut changed = all[0].clone();
            change(&mut changed, shape, |octets, size| {
                octets[size] = 7;
                size + 1
            });
            assert_eq!(changed, of(&[&[1; 24][..], &[7]].concat()));
        }
    }

    #[test]
    fn whatever_is_changed_within_leaves_messages_whole() {
        let good = [message(&[1; 24]), message(&[2; 40])];
        let input = [vec![0], good.concat()].concat();
        for seed in 0..500 {
            let mut data = input.clone();
            data.resize(400, 0);
            // Removes a byte, or adds one.
            let size = messages(&mut data, input.len(), seed, 1, &good, |octets, size| {
                octets[0] ^= 1;
                (size + 1).min(octets.len())
            });
            let all = cut(&data[1..size]);
            let whole = all.iter().filter(|one| one.starts_with(b"GIOP")).count();
            assert!(whole + 1 >= all.len(), "{seed}: {all:?}");
        }
    }

    #[test]
    fn graphs_and_anys_that_are_made_are_taken() {
        for seed in 0..600 {
            for (target, mutate) in [
                (
                    "values",
                    values as fn(&mut [u8], usize, u32, Bytes) -> usize,
                ),
                ("any", any),
            ] {
                let mut data = vec![u8::try_from(seed % 256).unwrap(); 4000];
                let size = mutate(&mut data, 1, seed, |_, size| size);
                (crate::target(target).unwrap().run)(&data[..size]);
            }
        }
    }

    #[test]
    fn a_message_and_its_fragment_have_all_that_the_message_had() {
        let mut all = vec![message(&[5; 40])];
        fragment(&mut all, 0, &mut Random::new(3));
        assert_eq!(all.len(), 2);
        assert_eq!((all[0][6] & 2, all[1][7]), (2, 7));
        let bodies = all[0].len() - HEADER + all[1].len() - HEADER - 4;
        assert_eq!(bodies, 40);
    }
}
