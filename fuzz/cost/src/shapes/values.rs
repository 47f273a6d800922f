//! Valuetypes, as read by a program without stubs.

use super::{decoder, number, written};
use crate::outcome::read_one;
use crate::{End, Outcome, Shape};
use punctual_any::{TypeCode, TypeKind, Value, ValueModifier, Visibility};
use punctual_cdr::Encoder;
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    // Four bytes are an object that can be shared: a node of its graph with a state, and a handle
    // to it, some 160 bytes together. `limits.values` bounds their number.
    Shape {
        times: 48,
        ..shape("values without state", empty)
    },
    shape("chunks in chunks", nested),
    shape("values that point at one list of ids", one_list),
    shape("nil values", nil),
    shape("values that point at the first", shared),
    shape("lists of ids", ids),
    shape("Anys in a chunk", anys),
    shape("a list of too many ids", too_many_ids).refused(End::Refused {
        why: "exceeds the limit of 64",
        at: |_| 12,
    }),
    shape("chunks of one octet", chunks),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("valuetypes", name, make, read)
}

const ID: &str = "IDL:c/Node:1.0";
const EMPTY: &str = "IDL:c/Empty:1.0";

/// Returns the types that are read: sequences of nodes that contain nodes, of empty values, of
/// values with booleans, and of values with Anys.
fn types() -> &'static [TypeCode; 4] {
    static TYPES: OnceLock<[TypeCode; 4]> = OnceLock::new();
    TYPES.get_or_init(|| {
        let others = TypeCode::sequence(&TypeCode::recursive(ID), 0);
        let node = TypeCode::value(
            ID,
            "Node",
            ValueModifier::None,
            None,
            &[("others", others, Visibility::Public)],
        );
        let empty = TypeCode::value(EMPTY, "Empty", ValueModifier::None, None, &[]);
        let booleans = TypeCode::sequence(&TypeCode::BOOLEAN, 0);
        let data = TypeCode::value(
            "IDL:c/Data:1.0",
            "Data",
            ValueModifier::None,
            None,
            &[("booleans", booleans, Visibility::Public)],
        );
        let anys = TypeCode::sequence(&TypeCode::ANY, 0);
        let anys = TypeCode::value(
            "IDL:c/Anys:1.0",
            "Anys",
            ValueModifier::None,
            None,
            &[("anys", anys, Visibility::Public)],
        );
        [node, empty, data, anys].map(|one| TypeCode::sequence(&one, 0))
    })
}

/// Returns the type of a sequence of nodes that contain nodes.
pub(super) fn nodes() -> &'static TypeCode {
    &types()[0]
}

/// Reads values of the type that the input's first octet selects.
fn read(octets: &[u8]) -> Outcome {
    let (which, octets) = octets.split_first().unwrap_or((&0, octets));
    let of = &types()[usize::from(*which % 4)];
    read_one(decoder(octets), |input| {
        Value::unmarshal(of, input).map(drop)
    })
}

fn of(which: u8, count: usize, mut each: impl FnMut(&mut Encoder<'_>, usize)) -> Vec<u8> {
    let octets = written(|out| {
        out.put_u32(number(count));
        (0..count).for_each(|at| each(out, at));
        Ok(())
    });
    [&[which][..], &octets].concat()
}

fn empty(octets: usize) -> Vec<u8> {
    of(1, octets / 4, |out, _| out.put_u32(0x7fff_ff00))
}

fn nil(octets: usize) -> Vec<u8> {
    of(1, octets / 4, |out, _| out.put_u32(0))
}

fn shared(octets: usize) -> Vec<u8> {
    of(1, octets / 8, |out, at| match at {
        0 => out.put_u32(0x7fff_ff00),
        _ => super::type_code::indirection(out, 4),
    })
}

/// Writes truncatable values with long lists of repository ids, of which only the last is known to
/// the receiver.
fn ids(octets: usize) -> Vec<u8> {
    of(1, octets / (MOST_IDS * 8) + 1, |out, _| {
        put_ids(out, MOST_IDS - 1);
        out.put_i32(-1);
    })
}

/// Upper bound of the repository ids of a value; equal to the limit `limits.nesting`.
const MOST_IDS: usize = 64;

/// Writes the header of a chunked value with `ids` unknown repository ids and a known one.
fn put_ids(out: &mut Encoder<'_>, ids: usize) {
    out.put_u32(0x7fff_ff0e);
    out.put_u32(number(ids) + 1);
    for id in std::iter::repeat_n("I", ids).chain([EMPTY]) {
        let _ = out.put_string(id);
    }
}

fn one_list(octets: usize) -> Vec<u8> {
    let mut at = 0;
    of(1, octets / 16 + 1, |out, value| {
        if value == 0 {
            at = out.position() + 4;
            put_ids(out, MOST_IDS - 1);
        } else {
            out.put_u32(0x7fff_ff0e);
            super::type_code::indirection(out, at);
        }
        out.put_i32(-1);
    })
}

fn too_many_ids(octets: usize) -> Vec<u8> {
    of(1, 1, |out, _| put_ids(out, MOST_IDS + octets / 8))
}

/// Writes a sequence of booleans, each in a chunk of its own.
fn chunks(octets: usize) -> Vec<u8> {
    of(2, 1, |out, _| {
        out.put_u32(0x7fff_ff08);
        out.put_u32(4);
        out.put_u32(number(octets / 8));
        for _ in 0..octets / 8 {
            out.put_u32(1);
            out.put_u8(0);
        }
        out.put_i32(-1);
    })
}

/// Writes values that hold an Any of a boolean each.
fn anys(octets: usize) -> Vec<u8> {
    of(3, 1, |out, _| {
        let count = octets / 8;
        out.put_u32(0x7fff_ff08);
        out.put_u32(number(count * 8 + 1));
        out.put_u32(number(count));
        for _ in 0..count {
            out.put_u32(TypeKind::Boolean.number());
            out.put_u8(0);
        }
        out.put_i32(-1);
    })
}

/// Writes nested nodes, each in a chunk of its own.
pub(super) fn nested(octets: usize) -> Vec<u8> {
    of(0, octets / 28 / 12 + 1, |out, _| {
        for _ in 0..28 {
            out.put_u32(0x7fff_ff08);
            out.put_u32(4);
            out.put_u32(1);
        }
        out.put_u32(0);
        out.put_i32(-1);
    })
}
