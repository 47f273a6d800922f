//! Tests of TypeCodes: their queries, and their encoding.
#![allow(clippy::unwrap_used)]

use punctual_any::{
    Label, TypeBuilder, TypeCode, TypeCodeError, TypeKind, Typed, ValueModifier, Visibility,
};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Marshal, Unmarshal,
};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

fn octets(value: &impl Marshal, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    value.marshal(&mut out).unwrap();
    out.into_block().into_vec()
}

fn read(octets: &[u8], order: ByteOrder) -> Result<TypeCode, CdrError> {
    TypeCode::unmarshal(&mut Decoder::new(octets, order, Coding::default()))
}

fn point() -> TypeCode {
    TypeCode::structure(
        "IDL:Point:1.0",
        "Point",
        &[("x", TypeCode::LONG), ("y", TypeCode::LONG)],
    )
}

/// Makes `struct Tree { string name; sequence<Tree> children; };`.
fn tree() -> TypeCode {
    let children = TypeCode::sequence(&TypeCode::recursive("IDL:Tree:1.0"), 0);
    TypeCode::structure(
        "IDL:Tree:1.0",
        "Tree",
        &[("name", TypeCode::STRING), ("children", children)],
    )
}

fn shape() -> TypeCode {
    let colour = TypeCode::enumeration("IDL:Colour:1.0", "Colour", &["red", "green", "blue"]);
    TypeCode::union_(
        "IDL:Shape:1.0",
        "Shape",
        &colour,
        &[
            (Label::Value(0), "point", point()),
            (Label::Value(2), "tree", tree()),
            (Label::Default, "number", TypeCode::fixed(5, 2)),
        ],
    )
}

fn one_of_each() -> Vec<TypeCode> {
    let mut all: Vec<TypeCode> = TypeKind::ALL
        .into_iter()
        .filter(|kind| kind.is_primitive())
        .map(|kind| {
            let mut types = TypeBuilder::default();
            let root = types.primitive(kind);
            types.finish(root)
        })
        .collect();
    let value = TypeCode::value(
        "IDL:Node:1.0",
        "Node",
        ValueModifier::None,
        None,
        &[
            (
                "next",
                TypeCode::recursive("IDL:Node:1.0"),
                Visibility::Public,
            ),
            ("secret", TypeCode::LONG_LONG, Visibility::Private),
        ],
    );
    all.extend([
        TypeCode::STRING,
        TypeCode::string(8),
        TypeCode::wstring(0),
        TypeCode::wstring(3),
        TypeCode::fixed(31, -3),
        TypeCode::sequence(&point(), 4),
        TypeCode::array(&TypeCode::array(&TypeCode::DOUBLE, 2), 3),
        point(),
        tree(),
        shape(),
        TypeCode::enumeration("IDL:E:1.0", "E", &["a", "b"]),
        TypeCode::alias("IDL:A:1.0", "A", &point()),
        TypeCode::exception("IDL:X:1.0", "X", &[("why", TypeCode::STRING)]),
        TypeCode::interface("IDL:I:1.0", "I"),
        TypeCode::abstract_interface("IDL:B:1.0", "B"),
        TypeCode::local_interface("IDL:L:1.0", "L"),
        TypeCode::native("IDL:N:1.0", "N"),
        TypeCode::value(
            "IDL:Derived:1.0",
            "Derived",
            ValueModifier::Truncatable,
            Some(&value),
            &[],
        ),
        TypeCode::value_box("IDL:Box:1.0", "Box", &TypeCode::WSTRING),
        value,
    ]);
    all
}

#[test]
fn each_kind_comes_back_from_the_wire_as_it_went_in_either_byte_order() {
    for type_code in one_of_each() {
        for order in ORDERS {
            let sent = octets(&type_code, order);
            let received = read(&sent, order).unwrap();
            assert_eq!(received, type_code);
            assert!(received.equivalent(&type_code) && type_code.equivalent(&received));
            assert_eq!(received.to_string(), type_code.to_string());
            assert_eq!(octets(&received, order), sent, "{type_code}");
        }
    }
}

#[test]
fn types_of_different_kinds_are_neither_equal_nor_equivalent() {
    let all = one_of_each();
    for (here, one) in all.iter().enumerate() {
        for (there, other) in all.iter().enumerate() {
            let is_alias = one.original_type() == other.original_type();
            assert_eq!(one == other, here == there, "{one} {other}");
            assert_eq!(one.equivalent(other), is_alias, "{one} {other}");
        }
    }
}

#[test]
fn a_type_tells_what_it_is_made_of() {
    let shape = shape();
    assert_eq!(shape.kind(), TypeKind::Union);
    assert_eq!(shape.id().unwrap(), "IDL:Shape:1.0");
    assert_eq!(shape.name().unwrap(), "Shape");
    assert_eq!(shape.member_count().unwrap(), 3);
    assert_eq!(shape.member_name(1).unwrap(), "tree");
    assert_eq!(shape.member_type(0).unwrap(), point());
    assert_eq!(shape.member_label(1).unwrap(), Label::Value(2));
    assert_eq!(shape.member_label(2).unwrap(), Label::Default);
    assert_eq!(shape.default_index().unwrap(), Some(2));
    assert_eq!(shape.member_chosen(0).unwrap(), Some(0));
    assert_eq!(shape.member_chosen(1).unwrap(), Some(2));
    let discriminator = shape.discriminator_type().unwrap();
    assert_eq!(discriminator.member_name(2).unwrap(), "blue");
    assert_eq!(discriminator.member_index("green"), Some(1));
    let fixed = shape.member_type(2).unwrap();
    assert_eq!((fixed.fixed_digits(), fixed.fixed_scale()), (Ok(5), Ok(2)));
}

#[test]
fn what_a_kind_does_not_have_is_told_from_what_is_out_of_bounds() {
    assert_eq!(TypeCode::LONG.id(), Err(TypeCodeError::BadKind));
    assert_eq!(TypeCode::LONG.member_count(), Err(TypeCodeError::BadKind));
    assert_eq!(point().length(), Err(TypeCodeError::BadKind));
    assert_eq!(point().member_name(2), Err(TypeCodeError::Bounds));
    assert_eq!(shape().member_label(3), Err(TypeCodeError::Bounds));
    assert!(point().content_type().is_err());
    assert!(shape().content_type().is_err());
}

#[test]
fn a_recursive_type_leads_back_to_itself() {
    let tree = tree();
    let children = tree.member_type(1).unwrap();
    assert_eq!(children.content_type().unwrap(), tree);
    assert!(tree.is_recursive() && children.is_recursive());
    assert!(!point().is_recursive());
}

#[test]
fn recursive_types_that_are_unrolled_differently_are_equal() {
    let once = tree();
    let children = TypeCode::sequence(&once, 0);
    let twice = TypeCode::structure(
        "IDL:Tree:1.0",
        "Tree",
        &[("name", TypeCode::STRING), ("children", children)],
    );
    assert_eq!(once, twice);
    let without_ids = |inner: &TypeCode| {
        TypeCode::structure(
            "",
            "",
            &[("", TypeCode::STRING), ("", TypeCode::sequence(inner, 0))],
        )
    };
    assert!(without_ids(&once).equivalent(&without_ids(&twice)));
    assert!(!without_ids(&once).equivalent(&without_ids(&point())));
}

#[test]
fn a_compact_type_has_no_names_and_is_equivalent() {
    for type_code in one_of_each() {
        let compact = type_code.compact();
        assert!(compact.equivalent(&type_code), "{type_code}");
        assert!(octets(&compact, ByteOrder::Big).len() <= octets(&type_code, ByteOrder::Big).len());
        assert_eq!(compact.name().unwrap_or_default(), "");
        if compact.member_count().is_ok_and(|count| count > 0) {
            assert_eq!(compact.member_name(0), Ok(""));
        }
    }
    assert_ne!(point().compact(), point());
    assert_eq!(tree().compact().id(), Ok("IDL:Tree:1.0"));
}

#[test]
fn aliases_are_looked_through_by_equivalence_and_not_by_equality() {
    let alias = TypeCode::alias("IDL:Place:1.0", "Place", &point());
    assert_ne!(alias, point());
    assert!(alias.equivalent(&point()));
    assert_eq!(alias.original_type(), point());
    let list = TypeCode::sequence(&alias, 0);
    assert!(list.equivalent(&TypeCode::sequence(&point(), 0)));
    assert!(!list.equivalent(&TypeCode::sequence(&point(), 7)));
}

#[test]
fn types_with_repository_ids_are_equivalent_by_those_alone() {
    let other = TypeCode::structure("IDL:Point:1.0", "P", &[("x", TypeCode::SHORT)]);
    assert!(other.equivalent(&point()));
    assert_ne!(other, point());
    let other = TypeCode::structure(
        "IDL:Spot:1.0",
        "Point",
        &[("x", TypeCode::LONG), ("y", TypeCode::LONG)],
    );
    assert!(!other.equivalent(&point()));
}

/// Makes a type of which each member is the same enum.
fn members_of_one_enum(members: u32, labels: u32) -> TypeCode {
    let labels: Vec<String> = (0..labels).map(|label| format!("l{label}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let members: Vec<String> = (0..members).map(|member| format!("m{member}")).collect();
    // Without ids, by which two types are equivalent at once.
    let mut types = TypeBuilder::default();
    let root = types.structure("", "S", |types| {
        let label = types.enumeration("", "E", &labels);
        members.iter().map(|name| (name.as_str(), label)).collect()
    });
    types.finish(root)
}

#[test]
fn an_enum_that_very_many_members_have_is_compared_once() {
    // If each member were compared again, this would be 17 thousand million labels: a minute or
    // more.
    let (members, labels) = (1 << 18, 1 << 16);
    let (one, other) = (
        members_of_one_enum(members, labels),
        members_of_one_enum(members, labels),
    );
    assert!(one == other && one.equivalent(&other));
    let shorter = members_of_one_enum(members, labels - 1);
    assert!(one != shorter && !one.equivalent(&shorter));
}

#[test]
fn a_recursive_stand_in_is_no_type_until_it_is_within_the_one_it_stands_for() {
    let stand_in = TypeCode::recursive("IDL:Tree:1.0");
    let list = TypeCode::sequence(&stand_in, 0);
    for open in [&stand_in, &list] {
        assert!(matches!(open.check(), Err(CdrError::BadTypeCode(_))));
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        assert!(matches!(
            open.marshal(&mut out),
            Err(CdrError::BadTypeCode(_))
        ));
    }
    assert_eq!(tree().check(), Ok(()));
}

#[test]
fn octets_of_a_recursive_type_are_those_of_the_book() {
    let sent = octets(&tree(), ByteOrder::Big);
    #[rustfmt::skip]
    let expected = [
        0, 0, 0, 15, 0, 0, 0, 84, 0, 0, 0, 0,
        0, 0, 0, 13,
    ];
    // Except for the byte order, which is the machine's within the encapsulation.
    assert_eq!(sent[..7], expected[..7]);
    // The number before the last is the distance back to the kind of the struct.
    let content = &sent[8..];
    let at = content.len() - 8;
    let distance: [u8; 4] = content[at..at + 4].try_into().unwrap();
    let distance = i32::from_ne_bytes(distance);
    assert_eq!(distance, -i32::try_from(8 + at).unwrap());
}

#[test]
fn a_default_members_label_is_read_in_both_forms_that_there_are() {
    let kind = TypeCode::enumeration("IDL:K:1.0", "K", &["a", "bc"]);
    for (discriminator, is_octet) in [
        (TypeCode::LONG, false),
        (TypeCode::LONG, true),
        (TypeCode::LONG_LONG, true),
        (TypeCode::SHORT, true),
        (TypeCode::BOOLEAN, false),
    ] {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        out.put_u32(TypeKind::Union.number());
        out.encapsulation(|out| {
            out.put_string("IDL:U:1.0")?;
            out.put_string("U")?;
            discriminator.marshal(out)?;
            out.put_i32(1);
            out.put_u32(2);
            let label = |out: &mut Encoder<'_>| match discriminator.kind() {
                TypeKind::LongLong => out.put_i64(0),
                TypeKind::Short => out.put_i16(0),
                TypeKind::Boolean => out.put_bool(false),
                _ => out.put_i32(0),
            };
            label(out);
            out.put_string("first")?;
            // It ends with a name, so that the data behind it has no alignment.
            kind.marshal(out)?;
            if is_octet {
                out.put_u8(0);
            } else {
                label(out);
            }
            out.put_string("rest")?;
            TypeCode::LONG.marshal(out)
        })
        .unwrap();
        let received = read(out.block().as_slice(), ByteOrder::Big).unwrap();
        assert_eq!(received.default_index(), Ok(Some(1)), "{discriminator}");
        assert_eq!(received.member_name(1), Ok("rest"));
        assert_eq!(received.member_type(0).unwrap(), kind);
    }
}

#[test]
fn a_union_chosen_by_a_wchar_is_read_in_the_version_in_which_it_is_written() {
    // A value type ends with two octets, which decide the offset of the data behind the next label.
    let value = TypeCode::value(
        "IDL:V:1.0",
        "V",
        ValueModifier::None,
        None,
        &[("a", TypeCode::LONG, Visibility::Public)],
    );
    let members = [
        (Label::Value(i128::from(b'x')), "value", value),
        (Label::Value(i128::from(b'y')), "other", TypeCode::DOUBLE),
        (Label::Default, "else", TypeCode::LONG),
    ];
    let by_alias = TypeCode::alias("IDL:Letter:1.0", "Letter", &TypeCode::WCHAR);
    for discriminator in [&TypeCode::WCHAR, &by_alias] {
        let union = TypeCode::union_("IDL:U:1.0", "U", discriminator, &members);
        let mut received = None;
        for (version, order) in [
            (GiopVersion::V1_1, ByteOrder::Big),
            (GiopVersion::V1_2, ByteOrder::Big),
            (GiopVersion::V1_1, ByteOrder::Little),
            (GiopVersion::V1_2, ByteOrder::Little),
        ] {
            let coding = Coding {
                version,
                ..Coding::default()
            };
            // A TypeCode received in one version is sent in another as that version requires.
            for sent in [Some(union.clone()), received.clone()]
                .into_iter()
                .flatten()
            {
                let mut out = Encoder::new(Block::default(), order, coding);
                sent.marshal(&mut out).unwrap();
                let octets = out.into_block();
                let mut input = Decoder::new(&octets, order, coding);
                let read = TypeCode::unmarshal(&mut input).unwrap();
                assert!(read == union, "{version:?}, {order:?}: {read:?}");
                assert_eq!(input.remaining(), 0);
                received = Some(read);
            }
        }
    }
}

/// Stand-in for a generated type whose interface has an operation of that name.
struct Describable;

impl Describable {
    fn describe(&self) -> &str {
        "by an operation"
    }
}

punctual_any::typed!(Describable, |types| types
    .interface("IDL:Describable:1.0", "Describable"));

#[test]
fn a_generated_type_has_one_type_code_whatever_its_operations_are_called() {
    assert_eq!(Describable.describe(), "by an operation");
    let first = Describable::type_code();
    assert_eq!(first, TypeBuilder::of::<Describable>());
    assert_eq!(first.kind(), TypeKind::Objref);
    assert_eq!(first.id(), Ok("IDL:Describable:1.0"));
    let all: Vec<TypeCode> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(Describable::type_code))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(all.iter().all(|one| *one == first));
}
