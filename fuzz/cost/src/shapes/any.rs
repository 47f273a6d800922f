//! Anys: received, decomposed into values, and sent on in the other byte order, as bridges and
//! event channels do.

use super::type_code::put_pointing;
use super::{decoder, number, written};
use crate::outcome::read_all;
use crate::{Counted, End, Outcome, Shape};
use punctual_any::{Any, Label, TypeCode, TypeKind, Value, ValueModifier};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, Limits, Marshal, Unmarshal};

pub(super) const SHAPES: &[Shape] = &[
    shape("Any", "Anys in a sequence, of a large type", of_large_type),
    shape("Any", "very many of a large type", too_many_of_large_type).refused_too_often(),
    shape("Any", "Anys in one another", nested),
    shape("Any", "elements without octets", without_octets).refused(End::Refused {
        why: "values of size 0",
        at: |_| 56,
    }),
    shape("Any", "values that point at one list of long ids", long_ids).refused(End::Refused {
        why: "references back to earlier data cause",
        at: |received| {
            let takes = (received - 60) / 130;
            let compared = 14 * received / (takes - 5) + 1;
            65 * takes + 40 + 16 * compared.div_ceil(63)
        },
    }),
    shape("Any", "short Anys", short),
    shape("Any", "a sequence of booleans", booleans),
    shape("Any", "structs of one octet", |octets| structs(octets, 1)),
    shape("Any", "structs of one octet in twenty others", |octets| {
        structs(octets, 20)
    }),
    shape("Any", "null Anys in twenty structs", null_in_structs),
    shape("Any", "unions of two octets", unions),
    shape("Any", "sequences in one another", sequences),
    kept("a sequence of booleans", booleans),
    kept("structs of one octet in twenty others", |octets| {
        structs(octets, 20)
    })
    .refused(End::Refused {
        why: "exceeds the limit",
        at: |received| received,
    }),
    looked_through("a sequence of booleans", booleans),
    looked_through("structs of one octet in twenty others", |octets| {
        structs(octets, 20)
    }),
    looked_through("null Anys in twenty structs", null_in_structs),
    looked_through("unions of two octets", unions),
    looked_through("sequences in one another", sequences),
    looked_through("Anys in a sequence, of a large type", of_large_type),
    sent_on("Anys in a sequence, of a large type", of_large_type),
    sent_on("very many of a large type", too_many_of_large_type).refused_too_often(),
    sent_on("Anys in one another", nested),
    sent_on("short Anys", short),
];

const fn sent_on(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("Any, sent on", name, make, send_on)
}

impl Shape {
    /// Returns the shape with the expectation that too many indirections are refused: those to
    /// earlier bytes may amount to 14 times the message's length. Up to the limit, each Any is
    /// decoded with its complete type.
    const fn refused_too_often(self) -> Self {
        let too_often = End::Refused {
            why: "references back to earlier data cause",
            at: |received| received / 2 + 204,
        };
        self.refused(too_often)
    }
}

const fn shape(decoder: &'static str, name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new(decoder, name, make, read)
}

fn read(octets: &[u8]) -> Outcome {
    read_all(&mut decoder(octets), |input| {
        Any::unmarshal(input)?.value().map(drop)
    })
}

/// Makes a kind of input whose decoded elements are all kept in memory, as by a program that does
/// not drop them. A `Value` has 32 bytes, and a byte of input makes four values at most.
const fn kept(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        times: 176,
        ..Shape::new("Any, all kept", name, make, keep)
    }
}

fn keep(octets: &[u8]) -> Outcome {
    read_all(&mut decoder(octets), |input| {
        match Any::unmarshal(input)?.value()? {
            Value::Sequence(elements) => elements.into_vec().map(drop),
            _ => Ok(()),
        }
    })
}

/// Makes a shape whose values are decomposed at every depth, and dropped one after the other.
const fn looked_through(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        counted: Counted::AtATime,
        ..Shape::new("Any, looked through", name, make, look_through)
    }
}

fn look_through(octets: &[u8]) -> Outcome {
    read_all(&mut decoder(octets), |input| {
        look_at(&Any::unmarshal(input)?.value()?)
    })
}

fn look_at(value: &Value) -> Result<(), CdrError> {
    match value {
        Value::Sequence(elements) => elements.each(look_at),
        Value::Struct(members) => members.iter().try_for_each(look_at),
        Value::Union(union) => union.member.iter().try_for_each(look_at),
        Value::Any(any) => look_at(&any.value()?),
        _ => Ok(()),
    }
}

fn send_on(octets: &[u8]) -> Outcome {
    let mut out = Encoder::new(Block::default(), ByteOrder::Little, Coding::default());
    read_all(&mut decoder(octets), |input| {
        Any::unmarshal(input)?.marshal(&mut out)
    })
}

/// Writes a sequence of Anys with empty values, in which `more` Anys refer to the first one's type
/// by an indirection. That type is a sequence of the element type that `of` writes.
fn sharing(more: usize, of: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
    written(|out| {
        TypeCode::sequence(&TypeCode::ANY, 0).marshal(out)?;
        out.put_u32(number(more) + 1);
        out.align(4);
        let at = out.position();
        out.put_u32(TypeKind::Sequence.number());
        out.encapsulation(|out| {
            of(out)?;
            out.put_u32(0);
            Ok(())
        })?;
        out.put_u32(0);
        for _ in 0..more {
            super::type_code::indirection(out, at);
            out.put_u32(0);
        }
        Ok(())
    })
}

/// Writes one indirection, the most that is allowed, to a type that takes up most of the message.
fn of_large_type(octets: usize) -> Vec<u8> {
    // Making the type again counts as reading it 12 times; and a type has 65,536 parts at most.
    sharing(1, |out| put_pointing(out, octets.min(1 << 18)))
}

/// Writes one indirection for every 12 bytes of a large type, an enum with a long repository id:
/// too many.
fn too_many_of_large_type(octets: usize) -> Vec<u8> {
    // In a short message 64 KiB may be referred to again.
    let more = octets.max(1 << 14) / 24;
    sharing(more, |out| {
        let id = "i".repeat(more * 12 - 1);
        TypeCode::enumeration(&id, "e", &["l"]).marshal(out)
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

/// Writes a message of which half is a type's repository id and 63 ids that precede it in a value's
/// list of ids and differ from it in their last character; then values that refer to this list.
fn long_ids(octets: usize) -> Vec<u8> {
    // Short ids are compared each time they occur.
    let octets = octets.max(24_000);
    // Size of an id with its length and a NUL.
    let takes = (octets / 2 / 65).next_multiple_of(16);
    let id = "i".repeat(takes - 5);
    let mut other = id.clone();
    other.pop();
    other.push('j');
    let value = TypeCode::value(&id, "v", ValueModifier::None, None, &[]);
    written(|out| {
        TypeCode::sequence(&value, 0).marshal(out)?;
        let more = 65 * takes / 16;
        out.put_u32(number(more) + 1);
        out.put_u32(0x7fff_ff0e);
        let at = out.position();
        out.put_u32(64);
        (0..63).try_for_each(|_| out.put_string(&other))?;
        out.put_string(&id)?;
        out.align(4);
        out.put_i32(-1);
        for _ in 0..more {
            out.put_u32(0x7fff_ff0e);
            super::type_code::indirection(out, at);
            out.put_i32(-1);
        }
        Ok(())
    })
}

fn in_structs(member: TypeCode, deep: usize) -> TypeCode {
    (0..deep).fold(member, |of, _| {
        TypeCode::structure("IDL:s:1.0", "s", &[("m", of)])
    })
}

fn structs(octets: usize, deep: usize) -> Vec<u8> {
    let of = in_structs(TypeCode::OCTET, deep);
    written(|out| {
        TypeCode::sequence(&of, 0).marshal(out)?;
        vec![0_u8; octets].marshal(out)
    })
}

/// Encodes a sequence of nested structs, each with a null Any innermost.
fn null_in_structs(octets: usize) -> Vec<u8> {
    written(|out| {
        TypeCode::sequence(&in_structs(TypeCode::ANY, 20), 0).marshal(out)?;
        let anys = octets / 4;
        out.put_u32(number(anys));
        (0..anys).for_each(|_| out.put_u32(TypeKind::Null.number()));
        Ok(())
    })
}

fn unions(octets: usize) -> Vec<u8> {
    let of = TypeCode::union_(
        "IDL:u:1.0",
        "u",
        &TypeCode::BOOLEAN,
        &[(Label::Value(1), "m", TypeCode::BOOLEAN)],
    );
    written(|out| {
        TypeCode::sequence(&of, 0).marshal(out)?;
        let ones = vec![1_u8; octets / 2 * 2];
        out.put_u32(number(ones.len() / 2));
        out.put_bytes(&ones);
        Ok(())
    })
}

/// Writes nested sequences of one element each, to the maximum nesting of values.
fn sequences(octets: usize) -> Vec<u8> {
    let deep = usize::from(Limits::DEFAULT.nesting) - 2;
    let of = (0..deep).fold(TypeCode::BOOLEAN, |of, _| TypeCode::sequence(&of, 0));
    written(|out| {
        TypeCode::sequence(&of, 0).marshal(out)?;
        let outermost = octets / (deep * 4 + 4) + 1;
        out.put_u32(number(outermost));
        for _ in 0..outermost {
            (0..deep).for_each(|_| {
                out.align(4);
                out.put_u32(1);
            });
            out.put_bool(true);
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
