//! TypeCodes.

use super::{decoder, number, written};
use crate::outcome::read_all;
use crate::{End, Outcome, Shape};
use punctual_any::{TypeCode, TypeKind};
use punctual_cdr::{CdrError, Encoder, Marshal, Unmarshal};

pub(super) const SHAPES: &[Shape] = &[
    shape("members that point at one enum", pointing),
    shape("encapsulations in one another", nested),
    shape("a tower of arrays", |octets| {
        tower(octets, &TypeCode::OCTET)
    }),
    shape("a tower of arrays of no octets", |octets| {
        tower(octets, &TypeCode::structure("IDL:e:1.0", "e", &[]))
    })
    .refused(NO_OCTETS),
    shape("labels of a union", labels),
    shape("members without names", members),
    shape("members that point at the one before", chain),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("TypeCode", name, make, read)
}

fn read(octets: &[u8]) -> Outcome {
    read_all(&mut decoder(octets), |input| {
        TypeCode::unmarshal(input).map(drop)
    })
}

/// Expected refusal of an array whose elements take no octets: reading as many values as its length
/// says would take too long.
const NO_OCTETS: End = End::Refused {
    why: "values of size 0",
    at: |_| 520,
};

/// Writes consecutive types that are together as long as required, as a single type may have at
/// most 65,536 parts.
fn types(octets: usize, one: impl Fn(&mut Encoder<'_>, usize) -> Result<(), CdrError>) -> Vec<u8> {
    const LONGEST: usize = 1 << 18;
    written(|out| (0..octets.div_ceil(LONGEST)).try_for_each(|_| one(out, octets.min(LONGEST))))
}

fn kind(out: &mut Encoder<'_>, kind: TypeKind) {
    out.put_u32(kind.number());
}

/// Writes an indirection to the position `to`, the beginning of a type.
pub(super) fn indirection(out: &mut Encoder<'_>, to: usize) {
    out.align(4);
    out.put_u32(0xffff_ffff);
    let back = number(out.position() - to);
    out.put_i32(0_i32.wrapping_sub_unsigned(back));
}

fn names(out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string("IDL:a:1.0")?;
    out.put_string("a")
}

/// Writes the TypeCode of a struct: three quarters of its bytes are an enum, the rest are members of
/// that enum type, by indirection.
pub(super) fn put_pointing(out: &mut Encoder<'_>, octets: usize) -> Result<(), CdrError> {
    kind(out, TypeKind::Struct);
    out.encapsulation(|out| {
        names(out)?;
        out.put_u32(number(octets / 4 / 16) + 1);
        out.put_string("m")?;
        out.align(4);
        let at = out.position();
        kind(out, TypeKind::Enum);
        out.encapsulation(|out| {
            names(out)?;
            let labels = octets * 3 / 4 / 8;
            out.put_u32(number(labels));
            (0..labels).try_for_each(|_| out.put_string("l"))
        })?;
        for _ in 0..octets / 4 / 16 {
            out.put_string("m")?;
            indirection(out, at);
        }
        Ok(())
    })
}

fn pointing(octets: usize) -> Vec<u8> {
    types(octets, put_pointing)
}

fn nested(octets: usize) -> Vec<u8> {
    fn put(out: &mut Encoder<'_>, deep: usize) -> Result<(), CdrError> {
        if deep == 0 {
            kind(out, TypeKind::Octet);
            return Ok(());
        }
        kind(out, TypeKind::Sequence);
        out.encapsulation(|out| {
            put(out, deep - 1)?;
            out.put_u32(0);
            Ok(())
        })
    }
    written(|out| (0..octets / 800 + 1).try_for_each(|_| put(out, 40)))
}

fn tower(octets: usize, of: &TypeCode) -> Vec<u8> {
    fn put(out: &mut Encoder<'_>, deep: usize, of: &TypeCode) -> Result<(), CdrError> {
        if deep == 0 {
            return of.marshal(out);
        }
        kind(out, TypeKind::Array);
        out.encapsulation(|out| {
            put(out, deep - 1, of)?;
            out.put_u32(u32::MAX);
            Ok(())
        })
    }
    written(|out| (0..octets / 640 + 1).try_for_each(|_| put(out, 30, of)))
}

fn labels(octets: usize) -> Vec<u8> {
    types(octets, |out, octets| {
        kind(out, TypeKind::Union);
        out.encapsulation(|out| {
            names(out)?;
            kind(out, TypeKind::Long);
            out.put_i32(-1);
            let cases = octets / 16;
            out.put_u32(number(cases));
            for case in 0..cases {
                out.put_u32(number(case));
                out.put_string("c")?;
                kind(out, TypeKind::Short);
            }
            Ok(())
        })
    })
}

fn members(octets: usize) -> Vec<u8> {
    types(octets, |out, octets| {
        kind(out, TypeKind::Struct);
        out.encapsulation(|out| {
            names(out)?;
            let members = octets / 12;
            out.put_u32(number(members));
            for _ in 0..members {
                out.put_string("")?;
                kind(out, TypeKind::Short);
            }
            Ok(())
        })
    })
}

/// Writes nested types, each of which would be twice as long as the preceding one if indirections
/// were expanded.
fn chain(octets: usize) -> Vec<u8> {
    types(octets, |out, octets| {
        kind(out, TypeKind::Struct);
        out.encapsulation(|out| {
            names(out)?;
            let members = octets / 64;
            out.put_u32(number(members));
            let mut before = None;
            for _ in 0..members {
                out.put_string("m")?;
                out.align(4);
                let at = out.position();
                kind(out, TypeKind::Struct);
                out.encapsulation(|out| {
                    names(out)?;
                    out.put_u32(2);
                    for _ in 0..2 {
                        out.put_string("x")?;
                        match before {
                            Some(before) => indirection(out, before),
                            None => kind(out, TypeKind::Short),
                        }
                    }
                    Ok(())
                })?;
                before = Some(at);
            }
            Ok(())
        })
    })
}
