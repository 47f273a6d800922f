//! Valuetypes, as whoever has no stub reads them.

use super::{decoder, number, written};
use crate::Shape;
use punctual_any::{TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::Encoder;
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    // Four octets are an object that can be shared. `limits.values` bounds how many there are.
    Shape {
        times: 80,
        ..shape("values without state", empty)
    },
    shape("nil values", nil),
    shape("values that point at the first", shared),
    shape("lists of ids", ids),
    shape("chunks of one octet", chunks),
    shape("chunks in chunks", nested),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("valuetypes", name, make, read)
}

const ID: &str = "IDL:c/Node:1.0";

/// A sequence of nodes that have a sequence of nodes, and one of empty values.
fn types() -> &'static [TypeCode; 2] {
    static TYPES: OnceLock<[TypeCode; 2]> = OnceLock::new();
    TYPES.get_or_init(|| {
        let others = TypeCode::sequence(&TypeCode::recursive(ID), 0);
        let node = TypeCode::value(
            ID,
            "Node",
            ValueModifier::None,
            None,
            &[("others", others, Visibility::Public)],
        );
        let empty = TypeCode::value("IDL:c/Empty:1.0", "Empty", ValueModifier::None, None, &[]);
        [node, empty].map(|one| TypeCode::sequence(&one, 0))
    })
}

/// The first octet says of which type.
fn read(octets: &[u8]) {
    let Some((which, octets)) = octets.split_first() else {
        return;
    };
    let of = &types()[usize::from(*which % 2)];
    let _ = Value::unmarshal(of, &mut decoder(octets));
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

/// A value that may be truncated to any of many types.
fn ids(octets: usize) -> Vec<u8> {
    of(1, 1, |out, _| {
        out.put_u32(0x7fff_ff0e);
        let ids = octets / 8;
        out.put_u32(number(ids));
        for _ in 0..ids {
            let _ = out.put_string("I");
        }
        out.put_i32(-1);
    })
}

/// One sequence of nil values, in chunks of one octet.
fn chunks(octets: usize) -> Vec<u8> {
    of(0, 1, |out, _| {
        out.put_u32(0x7fff_ff08);
        let count = number(octets / 32).to_be_bytes();
        let zeros = std::iter::repeat_n(0, octets / 8);
        for octet in count.into_iter().chain(zeros) {
            out.put_u32(1);
            out.put_u8(octet);
        }
        out.put_i32(-1);
    })
}

/// Nodes in nodes, each in a chunk of its own.
fn nested(octets: usize) -> Vec<u8> {
    of(0, octets / 40 / 24 + 1, |out, _| {
        for _ in 0..40 {
            out.put_u32(0x7fff_ff08);
            out.put_u32(4);
            out.put_u32(1);
        }
        out.put_u32(0);
        out.put_i32(-1);
    })
}
