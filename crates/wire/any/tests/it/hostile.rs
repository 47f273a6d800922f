//! Tests of hostile TypeCodes and Anys: each ends in an error, soon, and holds little memory.
#![allow(clippy::unwrap_used)]

use punctual_any::{Any, Label, TypeCode, TypeKind, Value, ValueModifier};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};

/// Returns the bytes that `write` encodes, in big-endian order.
fn octets(write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    write(&mut out).unwrap();
    out.into_block().into_vec()
}

fn read(octets: &[u8]) -> Result<TypeCode, CdrError> {
    TypeCode::unmarshal(&mut Decoder::new(octets, ByteOrder::Big, Coding::default()))
}

fn bad(octets: &[u8]) -> bool {
    matches!(read(octets), Err(CdrError::BadTypeCode(_)))
}

fn kind(out: &mut Encoder<'_>, kind: TypeKind) {
    out.put_u32(kind.number());
}

/// Writes a struct of one member, whose type `member` writes.
fn structure(out: &mut Encoder<'_>, member: impl FnOnce(&mut Encoder<'_>)) -> Result<(), CdrError> {
    kind(out, TypeKind::Struct);
    out.encapsulation(|out| {
        out.put_string("IDL:S:1.0")?;
        out.put_string("S")?;
        out.put_u32(1);
        out.put_string("m")?;
        member(out);
        Ok(())
    })
}

fn indirection(out: &mut Encoder<'_>, to: usize) {
    out.align(4);
    out.put_u32(0xffff_ffff);
    let here = i32::try_from(out.position()).unwrap();
    out.put_i32(i32::try_from(to).unwrap() - here);
}

#[test]
fn there_are_no_kinds_beyond_those_of_the_book() {
    for number in [37, 38, 1000, 0x7fff_ffff, 0xffff_fffe] {
        assert!(bad(&octets(|out| {
            out.put_u32(number);
            Ok(())
        })));
    }
}

#[test]
fn a_struct_that_holds_itself_is_no_type() {
    assert!(bad(&octets(|out| structure(out, |out| indirection(
        out, 0
    )))));
}

#[test]
fn a_struct_may_hold_itself_in_a_sequence() {
    let sound = octets(|out| {
        structure(out, |out| {
            kind(out, TypeKind::Sequence);
            out.encapsulation(|out| {
                indirection(out, 0);
                out.put_u32(0);
                Ok(())
            })
            .unwrap();
        })
    });
    assert!(read(&sound).unwrap().is_recursive());
}

#[test]
fn an_alias_of_itself_is_no_type() {
    assert!(bad(&octets(|out| {
        kind(out, TypeKind::Alias);
        out.encapsulation(|out| {
            out.put_string("IDL:A:1.0")?;
            out.put_string("A")?;
            indirection(out, 0);
            Ok(())
        })
    })));
}

#[test]
fn indirections_lead_to_where_a_type_began_and_nowhere_else() {
    // Outside of the stream, into the middle of a type, to itself, forward.
    for (from, distance) in [
        (0, -400),
        (0, i32::MIN),
        (0, -24),
        (0, -4),
        (0, 0),
        (0, 8),
        (0, i32::MAX),
        (8, -12),
    ] {
        let wrong = octets(|out| {
            out.put_bytes(&vec![0; from]);
            structure(out, |out| {
                out.align(4);
                out.put_u32(0xffff_ffff);
                out.put_i32(distance);
            })
        });
        let mut input = Decoder::at(&wrong, from, ByteOrder::Big, Coding::default());
        assert!(TypeCode::unmarshal(&mut input).is_err(), "{distance}");
    }
    assert!(bad(&octets(|out| {
        indirection(out, 0);
        Ok(())
    })));
}

#[test]
fn an_indirection_may_lead_to_a_type_earlier_in_the_message() {
    let point = TypeCode::structure("IDL:P:1.0", "P", &[("x", TypeCode::LONG)]);
    let message = octets(|out| {
        point.marshal(out)?;
        structure(out, |out| indirection(out, 0))?;
        out.put_i32(7);
        Ok(())
    });
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    assert_eq!(TypeCode::unmarshal(&mut input).unwrap(), point);
    let mut any = Any::unmarshal(&mut input.clone()).unwrap();
    assert_eq!(any.type_code().member_type(0).unwrap(), point);
    // By itself it is sent without an indirection out of it.
    let alone = octets(|out| any.marshal(out));
    any = Any::unmarshal(&mut Decoder::new(&alone, ByteOrder::Big, Coding::default())).unwrap();
    let expected = Value::Struct(vec![Value::Struct(vec![Value::Long(7)])]);
    assert_eq!(any.value(), Ok(expected));
}

/// Returns a long type, and `times` Anys whose types are indirections to it.
fn referred_to(enumerators: usize, times: usize) -> Vec<u8> {
    octets(|out| {
        kind(out, TypeKind::Enum);
        out.encapsulation(|out| {
            out.put_string("IDL:E:1.0")?;
            out.put_string("E")?;
            out.put_u32(u32::try_from(enumerators).unwrap());
            (0..enumerators).try_for_each(|_| out.put_string("abc"))
        })?;
        for _ in 0..times {
            indirection(out, 0);
            out.put_u32(0);
        }
        Ok(())
    })
}

fn read_all(message: &[u8], times: usize) -> Result<Vec<Any>, CdrError> {
    let mut input = Decoder::new(message, ByteOrder::Big, Coding::default());
    TypeCode::unmarshal(&mut input).unwrap();
    (0..times).map(|_| Any::unmarshal(&mut input)).collect()
}

#[test]
fn a_large_type_is_not_read_again_for_each_of_many_values() {
    // Half a megabyte that would become 200 types of 60,000 enumerators.
    let bomb = referred_to(60_000, 200);
    let refused = read_all(&bomb, 200).unwrap_err();
    assert!(matches!(refused, CdrError::ReadAgain { .. }), "{refused}");
    assert_eq!(read_all(&bomb, 3).unwrap().len(), 3);
    // Likewise within an Any, where each would be written again.
    let kept = octets(|out| {
        out.put_bytes(&bomb);
        Ok(())
    });
    let mut input = Decoder::new(&kept, ByteOrder::Big, Coding::default());
    TypeCode::unmarshal(&mut input).unwrap();
    let list = TypeCode::array(&TypeCode::ANY, 200);
    let mut any = Any::default();
    let refused = any.unmarshal_as(&list, &mut input).unwrap_err();
    assert!(matches!(refused, CdrError::ReadAgain { .. }), "{refused}");
}

#[test]
fn a_type_of_usual_length_may_be_referred_to_by_many_values() {
    let message = referred_to(3, 10_000);
    let anys = read_all(&message, 10_000).unwrap();
    assert!(anys.iter().all(|any| any.value() == Ok(Value::Enum(0))));
}

#[test]
fn an_any_within_an_any_whose_type_stands_outside_is_kept_by_itself() {
    let point = TypeCode::structure("IDL:P:1.0", "P", &[("x", TypeCode::LONG)]);
    let message = octets(|out| {
        point.marshal(out)?;
        TypeCode::ANY.marshal(out)?;
        indirection(out, 0);
        out.put_i32(7);
        Ok(())
    });
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    TypeCode::unmarshal(&mut input).unwrap();
    let outer = Any::unmarshal(&mut input).unwrap();
    let inner: Any = outer.extract().unwrap();
    assert_eq!(*inner.type_code(), point);
    assert_eq!(inner.value(), Ok(Value::Struct(vec![Value::Long(7)])));
}

#[test]
fn types_nest_no_deeper_than_values_may() {
    let mut deep = TypeCode::LONG;
    for _ in 0..60 {
        deep = TypeCode::sequence(&deep, 0);
    }
    let sent = octets(|out| deep.marshal(out));
    assert_eq!(read(&sent).unwrap(), deep);
    for _ in 0..20 {
        deep = TypeCode::sequence(&deep, 0);
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    assert!(matches!(
        deep.marshal(&mut out),
        Err(CdrError::TooDeep { .. })
    ));
    // The same if a peer writes them.
    fn nested(out: &mut Encoder<'_>, levels: u32) {
        if levels == 0 {
            kind(out, TypeKind::Long);
            return;
        }
        kind(out, TypeKind::Sequence);
        out.encapsulation(|out| {
            nested(out, levels - 1);
            out.put_u32(0);
            Ok(())
        })
        .unwrap();
    }
    let sent = octets(|out| {
        nested(out, 500);
        Ok(())
    });
    assert!(matches!(read(&sent), Err(CdrError::TooDeep { .. })));
}

#[test]
fn a_chain_of_types_that_is_longer_than_values_may_nest_has_no_values() {
    // Each struct's member is the struct before it, by an indirection: no encapsulation nests.
    const LINKS: usize = 2000;
    let chain = octets(|out| {
        kind(out, TypeKind::Struct);
        out.encapsulation(|out| {
            out.put_string("IDL:C:1.0")?;
            out.put_string("C")?;
            out.put_u32(u32::try_from(LINKS).unwrap());
            let mut before = None;
            for link in 0..LINKS {
                out.put_string("m")?;
                out.align(4);
                let here = out.position();
                kind(out, TypeKind::Struct);
                out.encapsulation(|out| {
                    out.put_string(&format!("IDL:L{link}:1.0"))?;
                    out.put_string("L")?;
                    out.put_u32(1);
                    out.put_string("m")?;
                    out.align(4);
                    match before {
                        Some(before) => indirection(out, before),
                        None => TypeCode::STRING.marshal(out)?,
                    }
                    Ok(())
                })?;
                before = Some(here);
            }
            Ok(())
        })
    });
    let type_code = read(&chain).unwrap();
    let last = type_code.member_type(LINKS - 1).unwrap();
    assert_eq!(last.id(), Ok(&*format!("IDL:L{}:1.0", LINKS - 1)));
    assert_eq!(type_code, read(&chain).unwrap());
    assert_eq!(type_code.compact().member_count(), Ok(LINKS));
    assert!(matches!(
        Value::default_of(&last),
        Err(CdrError::TooDeep { .. })
    ));
    let message = octets(|out| out.put_string("x"));
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    let read = Any::default().unmarshal_as(&last, &mut input);
    assert!(matches!(read, Err(CdrError::TooDeep { .. })));
}

#[test]
fn a_default_member_that_no_value_selects_is_not_the_one_to_begin_with() {
    let kind = TypeCode::enumeration("IDL:Kind:1.0", "Kind", &["a", "b"]);
    let all = [
        (Label::Value(0), TypeCode::LONG),
        (Label::Value(1), TypeCode::SHORT),
    ];
    for over in [TypeCode::BOOLEAN, kind] {
        let members: Vec<(Label, &str, TypeCode)> =
            std::iter::once((Label::Default, TypeCode::STRING))
                .chain(all.clone())
                .map(|(label, of)| (label, "m", of))
                .collect();
        let full = TypeCode::union_("IDL:Full:1.0", "Full", &over, &members);
        let Value::Union(union) = Value::default_of(&full).unwrap() else {
            panic!("no union")
        };
        assert_eq!(union.discriminator, 0);
        assert_eq!(union.member, Some(Value::Long(0)));
        Any::of_value(&full, &Value::Union(union)).unwrap();
        // With one label less, the default member has a value.
        let free = TypeCode::union_("IDL:Free:1.0", "Free", &over, &members[..2]);
        let Value::Union(union) = Value::default_of(&free).unwrap() else {
            panic!("no union")
        };
        assert_eq!(union.discriminator, 1);
        assert_eq!(union.member, Some(Value::String(String::new())));
    }
}

#[test]
fn types_that_share_their_parts_are_not_multiplied_when_they_are_sent() {
    let mut twice = TypeCode::STRING;
    for level in 0..40 {
        let id = format!("IDL:T{level}:1.0");
        twice = TypeCode::structure(&id, "T", &[("a", twice.clone()), ("b", twice)]);
    }
    let sent = octets(|out| twice.marshal(out));
    assert!(sent.len() < 10_000, "{}", sent.len());
    let received = read(&sent).unwrap();
    assert_eq!(received, twice);
    assert!(matches!(
        Value::default_of(&received),
        Err(CdrError::LengthOverLimit { .. })
    ));
}

#[test]
fn members_that_are_announced_have_to_be_there() {
    for count in [1_000_000, u32::MAX] {
        let announced = octets(|out| {
            kind(out, TypeKind::Struct);
            out.encapsulation(|out| {
                out.put_string("IDL:S:1.0")?;
                out.put_string("S")?;
                out.put_u32(count);
                Ok(())
            })
        });
        assert!(read(&announced).is_err());
    }
    let many = octets(|out| {
        kind(out, TypeKind::Enum);
        out.encapsulation(|out| {
            out.put_string("IDL:E:1.0")?;
            out.put_string("E")?;
            out.put_u32(100_000);
            (0..100_000).try_for_each(|_| out.put_string("e"))
        })
    });
    assert!(bad(&many));
}

fn union_of(
    discriminator: TypeKind,
    default: i32,
    labels: &[i32],
    member: TypeKind,
) -> Result<TypeCode, CdrError> {
    read(&octets(|out| {
        kind(out, TypeKind::Union);
        out.encapsulation(|out| {
            out.put_string("IDL:U:1.0")?;
            out.put_string("U")?;
            kind(out, discriminator);
            out.put_i32(default);
            out.put_u32(u32::try_from(labels.len()).unwrap());
            for label in labels {
                out.put_i32(*label);
                out.put_string("m")?;
                kind(out, member);
            }
            Ok(())
        })
    }))
}

#[test]
fn a_union_tells_one_member_for_each_discriminator() {
    let sound = union_of(TypeKind::Long, 2, &[1, 5, 1], TypeKind::Short).unwrap();
    assert_eq!(sound.member_label(2), Ok(Label::Default));
    for (discriminator, default, labels, member) in [
        (TypeKind::Long, -1, &[1, 1][..], TypeKind::Short),
        (TypeKind::Long, 2, &[1, 2][..], TypeKind::Short),
        (TypeKind::Long, -2, &[1, 2][..], TypeKind::Short),
        (TypeKind::Float, -1, &[1][..], TypeKind::Short),
        (TypeKind::Double, -1, &[][..], TypeKind::Short),
        (TypeKind::Long, -1, &[1][..], TypeKind::Void),
    ] {
        let wrong = union_of(discriminator, default, labels, member);
        assert!(
            matches!(wrong, Err(CdrError::BadTypeCode(_))),
            "{labels:?} {default} {discriminator:?}"
        );
    }
}

#[test]
fn parts_that_no_value_has_are_refused() {
    let exception = TypeCode::exception("IDL:X:1.0", "X", &[]);
    for wrong in [
        TypeCode::sequence(&TypeCode::VOID, 0),
        TypeCode::sequence(&exception, 0),
        TypeCode::array(&TypeCode::LONG, 0),
        TypeCode::fixed(32, 0),
        TypeCode::fixed(3, 4),
    ] {
        assert!(
            matches!(wrong.check(), Err(CdrError::BadTypeCode(_))),
            "{wrong}"
        );
        assert!(bad(&octets(|out| wrong.marshal(out))), "{wrong}");
    }
}

#[test]
fn parts_that_take_nothing_are_refused_as_nobody_would_have_to_send_them() {
    let nothing = TypeCode::structure("IDL:N:1.0", "N", &[]);
    let void = TypeCode::alias("IDL:V:1.0", "V", &TypeCode::VOID);
    for nothing in [nothing, void] {
        for wrong in [
            TypeCode::structure("", "", &[("a", TypeCode::STRING), ("b", nothing.clone())]),
            TypeCode::sequence(&nothing, 0),
            TypeCode::array(&nothing, u32::MAX),
            TypeCode::value_box("IDL:B:1.0", "B", &nothing),
        ] {
            assert!(
                matches!(wrong.check(), Err(CdrError::BadTypeCode(_))),
                "{wrong}"
            );
            assert!(bad(&octets(|out| wrong.marshal(out))), "{wrong}");
        }
    }
}

#[test]
fn arrays_that_the_message_cannot_hold_are_refused() {
    for element in [TypeCode::OCTET, TypeCode::STRING, TypeCode::ANY] {
        let large = TypeCode::array(&TypeCode::array(&element, u32::MAX), u32::MAX);
        let message = [0u8; 64];
        let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
        assert!(Any::default().unmarshal_as(&large, &mut input).is_err());
        let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
        assert!(Value::unmarshal(&large, &mut input).is_err());
    }
}

#[test]
fn anys_within_anys_nest_no_deeper_than_values_may() {
    let nested = octets(|out| {
        for _ in 0..5000 {
            kind(out, TypeKind::Any);
        }
        kind(out, TypeKind::Null);
        Ok(())
    });
    let mut input = Decoder::new(&nested, ByteOrder::Big, Coding::default());
    assert!(matches!(
        Any::unmarshal(&mut input),
        Err(CdrError::TooDeep { .. })
    ));
}

#[test]
fn anys_behind_many_values_cost_no_more_than_others() {
    const VALUES: u32 = 50_000;
    const ANYS: u32 = 200_000;
    let node = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &[]);
    let values = TypeCode::sequence(&node, 0);
    let anys = TypeCode::sequence(&TypeCode::ANY, 0);
    let both = TypeCode::structure("", "", &[("values", values), ("anys", anys)]);
    let message = octets(|out| {
        out.put_u32(VALUES);
        for _ in 0..VALUES {
            // A tag without type information.
            out.put_u32(0x7fff_ff00);
        }
        out.put_u32(ANYS);
        for _ in 0..ANYS {
            kind(out, TypeKind::Boolean);
            out.put_bool(true);
            out.align(4);
        }
        Ok(())
    });
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    let Value::Struct(members) = Value::unmarshal(&both, &mut input).unwrap() else {
        panic!("it is a struct");
    };
    let lengths = members.iter().map(|member| match member {
        Value::Sequence(elements) => elements.len(),
        _ => 0,
    });
    assert_eq!(
        lengths.collect::<Vec<_>>(),
        [VALUES as usize, ANYS as usize]
    );
}
