//! Anys: received, taken apart, and sent on in the other byte order, as bridges and event channels do.

use super::type_code::put_pointing;
use super::{decoder, number, written};
use crate::Shape;
use punctual_any::{Any, TypeCode, TypeKind};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, Marshal, Unmarshal};

pub(super) const SHAPES: &[Shape] = &[
    shape("Any", "Anys in a sequence, of a large type", of_large_type),
    shape("Any", "Anys in one another", nested),
    shape("Any", "elements without octets", without_octets),
    // Each is a `Value`, too, and what that holds.
    Shape {
        times: 24,
        ..shape("Any", "short Anys", short)
    },
    // Taken apart, each is a `Value`, of 48 octets.
    Shape {
        times: 64,
        ..shape("Any", "a sequence of booleans", booleans)
    },
    Shape {
        read: send_on,
        ..shape(
            "Any, sent on",
            "Anys in a sequence, of a large type",
            of_large_type,
        )
    },
    Shape {
        read: send_on,
        ..shape("Any, sent on", "Anys in one another", nested)
    },
    Shape {
        read: send_on,
        ..shape("Any, sent on", "short Anys", short)
    },
];

const fn shape(decoder: &'static str, name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new(decoder, name, make, read)
}

fn read(octets: &[u8]) {
    let mut input = decoder(octets);
    while let Ok(any) = Any::unmarshal(&mut input) {
        let _ = any.value();
    }
}

fn send_on(octets: &[u8]) {
    let mut input = decoder(octets);
    let mut out = Encoder::new(Block::default(), ByteOrder::Little, Coding::default());
    while let Ok(any) = Any::unmarshal(&mut input) {
        if any.marshal(&mut out).is_err() {
            return;
        }
    }
}

/// Half of it the type of a sequence's first element, an Any; then Anys that say the same type again.
fn of_large_type(octets: usize) -> Vec<u8> {
    written(|out| {
        TypeCode::sequence(&TypeCode::ANY, 0).marshal(out)?;
        let more = octets / 2 / 12;
        out.put_u32(number(more) + 1);
        out.align(4);
        let at = out.position();
        put_pointing(out, octets / 2)?;
        for _ in 0..octets / 2 / 8 / 4 {
            out.put_u32(0);
        }
        for _ in 0..more {
            super::type_code::indirection(out, at);
            out.put_u32(0);
        }
        Ok(())
    })
}

fn nested(octets: usize) -> Vec<u8> {
    fn put(out: &mut Encoder<'_>, deep: usize) -> Result<(), CdrError> {
        if deep == 0 {
            TypeCode::SHORT.marshal(out)?;
            out.put_i16(1);
            return Ok(());
        }
        TypeCode::ANY.marshal(out)?;
        put(out, deep - 1)
    }
    written(|out| (0..octets / 160 + 1).try_for_each(|_| put(out, 40)))
}

fn without_octets(octets: usize) -> Vec<u8> {
    let empty = TypeCode::structure("IDL:e:1.0", "e", &[]);
    let many = TypeCode::array(&empty, 1 << 20);
    written(|out| {
        for _ in 0..octets / 64 + 1 {
            many.marshal(out)?;
        }
        Ok(())
    })
}

fn short(octets: usize) -> Vec<u8> {
    written(|out| {
        TypeCode::sequence(&TypeCode::ANY, 0).marshal(out)?;
        let anys = octets / 4;
        out.put_u32(number(anys));
        for _ in 0..anys {
            out.put_u32(TypeKind::Null.number());
        }
        Ok(())
    })
}

fn booleans(octets: usize) -> Vec<u8> {
    written(|out| {
        TypeCode::sequence(&TypeCode::BOOLEAN, 0).marshal(out)?;
        vec![true; octets].marshal(out)
    })
}
