//! Seeds: TypeCodes of each shape, and Anys with values of them.

use crate::Seed;
use punctual_any::{Label, TypeCode, UnionValue, Value, ValueModifier, Visibility};
use punctual_cdr::{
    Block, ByteOrder, Char, Coding, Decimal, Encoder, Fixed, GiopVersion, LongDouble, Marshal,
};
use punctual_ior::{Ior, TaggedProfile};

/// Returns the seeds, in both byte orders.
///
/// # Panics
/// A seed cannot be written.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (flag, order) in [(0, ByteOrder::Big), (1, ByteOrder::Little)] {
        for (name, type_code) in types() {
            let mut out = Encoder::new(Block::default(), order, Coding::default());
            let written = type_code.marshal(&mut out);
            written.expect("it can be written");
            let octets = [&[flag], &*out.into_block()].concat();
            all.push((format!("type-{name}-{order:?}"), octets));
        }
        for (how, version) in [(0, GiopVersion::V1_2), (0x10, GiopVersion::V1_1)] {
            for (name, type_code, value) in values() {
                let coding = Coding {
                    version,
                    ..Coding::default()
                };
                let mut out = Encoder::new(Block::default(), order, coding);
                let written = type_code
                    .marshal(&mut out)
                    .and_then(|()| value.marshal(&type_code, &mut out));
                if written.is_ok() {
                    let octets = [&[flag | 2 | how], &*out.into_block()].concat();
                    all.push((format!("value-{name}-{version}-{order:?}"), octets));
                }
            }
        }
    }
    all.push(twice());
    all.extend(again());
    all.extend(valuetypes());
    all
}

/// Function that writes a value behind its type.
type Write<'w> = &'w dyn Fn(&mut Encoder<'_>);

/// Returns Anys of valuetypes: one value, one that occurs twice, one that holds another, and a long
/// one.
fn valuetypes() -> Vec<Seed> {
    const VALUE: u32 = 0x7fff_ff02;
    const AGAIN: u32 = 0xffff_ffff;
    let id = "IDL:a/V:1.0";
    let member = |name, of: &TypeCode| (name, of.clone(), Visibility::Public);
    let members = [
        member("number", &TypeCode::LONG),
        member("text", &TypeCode::string(0)),
    ];
    let value = TypeCode::value(id, "V", ValueModifier::None, None, &members);
    let holds = [member("first", &value), member("second", &value)];
    let holder = TypeCode::value("IDL:a/H:1.0", "H", ValueModifier::None, None, &holds);
    let several = TypeCode::sequence(&value, 0);
    let put = |out: &mut Encoder<'_>, text: &str| {
        out.put_u32(VALUE);
        out.put_string(id).expect("it can be written");
        out.put_u32(7);
        out.put_string(text).expect("it can be written");
    };
    let long = "text ".repeat(700);
    let write: [(&str, &TypeCode, Write<'_>); 4] = [
        ("one", &value, &|out| put(out, "text")),
        ("twice", &several, &|out| {
            out.put_u32(2);
            let at = out.position();
            put(out, "text");
            out.align(4);
            out.put_u32(AGAIN);
            let back = i64::try_from(at).unwrap_or_default()
                - i64::try_from(out.position()).unwrap_or_default();
            out.put_i32(i32::try_from(back).unwrap_or_default());
        }),
        ("within", &holder, &|out| {
            out.put_u32(VALUE);
            out.put_string("IDL:a/H:1.0").expect("it can be written");
            put(out, "text");
            out.put_u32(0);
        }),
        ("long", &value, &|out| put(out, &long)),
    ];
    let mut all = Vec::new();
    for (name, type_code, write) in write {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        type_code.marshal(&mut out).expect("it can be written");
        out.align(4);
        write(&mut out);
        let octets = [&[2], &*out.into_block()].concat();
        all.push((format!("valuetype-{name}"), octets));
    }
    all
}

/// Returns a TypeCode, and an indirection to it.
fn again() -> Vec<Seed> {
    let members: Vec<String> = (0..320).map(|number| format!("m{number}")).collect();
    let members: Vec<_> = members
        .iter()
        .map(|name| (&**name, TypeCode::LONG))
        .collect();
    let pair = [("a", TypeCode::STRING), ("b", TypeCode::LONG)];
    [
        ("short", TypeCode::structure("IDL:a/S:1.0", "S", &pair)),
        ("long", TypeCode::structure("IDL:a/L:1.0", "L", &members)),
        ("simple", TypeCode::string(4)),
    ]
    .into_iter()
    .map(|(name, type_code)| {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        type_code.marshal(&mut out).expect("it can be written");
        for _ in 0..2 {
            out.align(4);
            out.put_u32(0xffff_ffff);
            let back = i32::try_from(out.position()).expect("it is short");
            out.put_i32(-back);
        }
        let octets = [&[0], &*out.into_block()].concat();
        (format!("type-again-{name}"), octets)
    })
    .collect()
}

/// Returns a long TypeCode twice: the second is found in the cache of the first.
fn twice() -> Seed {
    let members: Vec<String> = (0..90).map(|number| format!("member{number}")).collect();
    let members: Vec<_> = members
        .iter()
        .map(|name| (&**name, TypeCode::LONG))
        .collect();
    let long = TypeCode::structure("IDL:a/Long:1.0", "Long", &members);
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    for _ in 0..3 {
        long.marshal(&mut out).expect("it can be written");
    }
    (
        "type-long-twice".to_owned(),
        [&[0], &*out.into_block()].concat(),
    )
}

/// Returns discriminator types of unions, with two labels each.
fn discriminators() -> Vec<(&'static str, TypeCode, [Label; 2])> {
    let color = TypeCode::enumeration("IDL:a/Color:1.0", "Color", &["red", "green", "blue"]);
    let number = [Label::from(1_i16), Label::from(2_i16)];
    vec![
        ("boolean", TypeCode::BOOLEAN, [true.into(), false.into()]),
        (
            "char",
            TypeCode::CHAR,
            [Char(b'a').into(), Char(b'b').into()],
        ),
        ("wchar", TypeCode::WCHAR, ['a'.into(), '\u{df}'.into()]),
        ("octet", TypeCode::OCTET, [1_u8.into(), 2_u8.into()]),
        (
            "short",
            TypeCode::SHORT,
            [Label::from(-1_i16), 2_i16.into()],
        ),
        ("ushort", TypeCode::USHORT, number),
        ("long", TypeCode::LONG, [Label::from(-1_i32), 2_i32.into()]),
        ("ulong", TypeCode::ULONG, number),
        (
            "longlong",
            TypeCode::LONG_LONG,
            [Label::from(-1_i64), 2_i64.into()],
        ),
        ("ulonglong", TypeCode::ULONG_LONG, number),
        ("enum", color.clone(), number),
        ("alias", TypeCode::alias("IDL:a/C:1.0", "C", &color), number),
    ]
}

fn unions() -> Vec<(String, TypeCode, [Label; 2])> {
    let mut all = Vec::new();
    for (name, discriminator, [one, other]) in discriminators() {
        for (ending, last) in [("", other), ("-default", Label::Default)] {
            let members = [
                (one, "text", TypeCode::STRING),
                (last, "number", TypeCode::DOUBLE),
            ];
            let union = TypeCode::union_("IDL:a/U:1.0", "U", &discriminator, &members);
            all.push((format!("union-{name}{ending}"), union, [one, last]));
        }
    }
    all
}

fn types() -> Vec<(String, TypeCode)> {
    let long = TypeCode::LONG;
    let id = "IDL:a/X:1.0";
    let public = Visibility::Public;
    let base = TypeCode::value("IDL:a/Base:1.0", "Base", ValueModifier::Abstract, None, &[]);
    let private = [("hidden", long.clone(), Visibility::Private)];
    let truncatable = ValueModifier::Truncatable;
    let next = TypeCode::recursive(id);
    let plain = [
        ("nothing", TypeCode::NULL),
        ("void", TypeCode::VOID),
        ("short", TypeCode::SHORT),
        ("ushort", TypeCode::USHORT),
        ("ulong", TypeCode::ULONG),
        ("float", TypeCode::FLOAT),
        ("boolean", TypeCode::BOOLEAN),
        ("octet", TypeCode::OCTET),
        ("any", TypeCode::ANY),
        ("typecode", TypeCode::TYPE_CODE),
        ("principal", TypeCode::PRINCIPAL),
        ("longlong", TypeCode::LONG_LONG),
        ("ulonglong", TypeCode::ULONG_LONG),
        ("longdouble", TypeCode::LONG_DOUBLE),
        ("char", TypeCode::CHAR),
        ("wchar", TypeCode::WCHAR),
        ("string", TypeCode::string(3)),
        ("wstring", TypeCode::wstring(3)),
        ("fixed", TypeCode::fixed(5, 2)),
        ("interface", TypeCode::interface(id, "X")),
        ("abstract", TypeCode::abstract_interface(id, "X")),
        ("local", TypeCode::local_interface(id, "X")),
        ("native", TypeCode::native(id, "X")),
        ("enum", TypeCode::enumeration(id, "X", &["x", "y"])),
        ("array", TypeCode::array(&TypeCode::OCTET, 3)),
        ("array-of-none", TypeCode::array(&long, 0)),
        ("fixed-of-none", TypeCode::fixed(0, 0)),
        ("alias-of-void", TypeCode::alias(id, "X", &TypeCode::VOID)),
        ("void-within", TypeCode::sequence(&TypeCode::VOID, 0)),
        (
            "exception-within",
            TypeCode::sequence(&TypeCode::exception(id, "X", &[]), 0),
        ),
        (
            "exception",
            TypeCode::exception(id, "X", &[("why", TypeCode::STRING)]),
        ),
        (
            "value",
            TypeCode::value(id, "X", truncatable, Some(&base), &private),
        ),
        (
            "value-custom",
            TypeCode::value(id, "X", ValueModifier::Custom, None, &[]),
        ),
        (
            "value-base-none",
            TypeCode::value(id, "X", ValueModifier::None, Some(&long), &[]),
        ),
        (
            "value-next",
            TypeCode::value(
                id,
                "X",
                ValueModifier::None,
                None,
                &[("next", next.clone(), public)],
            ),
        ),
        ("box", TypeCode::value_box(id, "X", &TypeCode::STRING)),
        (
            "struct-recursive",
            TypeCode::structure(id, "X", &[("all", TypeCode::sequence(&next, 0))]),
        ),
        (
            "union-float",
            TypeCode::union_(id, "X", &TypeCode::FLOAT, &[]),
        ),
        (
            "union-twice",
            TypeCode::union_(
                id,
                "X",
                &long,
                &[
                    (1_i32.into(), "a", long.clone()),
                    (1_i32.into(), "b", long.clone()),
                ],
            ),
        ),
        (
            "no-ids",
            TypeCode::structure(
                "",
                "",
                &[(
                    "",
                    TypeCode::union_(
                        "",
                        "",
                        &long,
                        &[(Label::Default, "", TypeCode::enumeration("", "", &["x"]))],
                    ),
                )],
            ),
        ),
    ];
    let mut all: Vec<_> = plain.map(|(name, one)| (name.to_owned(), one)).to_vec();
    all.extend(unions().into_iter().map(|(name, one, _)| (name, one)));
    all
}

fn values() -> Vec<(String, TypeCode, Value)> {
    let mut all: Vec<_> = types()
        .into_iter()
        .filter_map(|(name, one)| {
            let value = Value::default_of(&one).ok()?;
            Some((name, one, value))
        })
        .collect();
    for (name, union, labels) in unions() {
        for (number, label) in (0_i128..).zip(labels) {
            let (discriminator, member) = match (label, number) {
                (Label::Value(label), 0) => (label, Some(Value::String("text".to_owned()))),
                (Label::Value(label), _) => (label, Some(Value::Double(0.5))),
                (Label::Default, _) => (0, Some(Value::Double(0.5))),
            };
            let value = UnionValue {
                discriminator,
                member,
            };
            all.push((
                format!("{name}-{number}"),
                union.clone(),
                Value::Union(Box::new(value)),
            ));
        }
        let value = UnionValue {
            discriminator: 0,
            member: None,
        };
        all.push((format!("{name}-none"), union, Value::Union(Box::new(value))));
    }
    let text = |text: &str| Value::String(text.to_owned());
    let price: Fixed<5, 2> = Fixed::literal(-12345);
    let reference = Ior {
        type_id: "IDL:a/X:1.0".to_owned(),
        profiles: vec![TaggedProfile {
            tag: 9,
            data: vec![1],
        }],
    };
    let interface = TypeCode::interface("IDL:a/X:1.0", "X");
    let abstract_one = TypeCode::abstract_interface("IDL:a/X:1.0", "X");
    let strings = TypeCode::sequence(&TypeCode::STRING, 2);
    let wide = TypeCode::sequence(&TypeCode::WSTRING, 0);
    let exception = TypeCode::exception(
        "IDL:a/E:1.0",
        "E",
        &[("why", TypeCode::STRING), ("x", interface.clone())],
    );
    let why = Value::Struct(vec![
        text("why"),
        Value::Object(Some(Box::new(reference.clone()))),
    ]);
    let more = [
        ("text-wide", TypeCode::WSTRING, text("w\u{e9}it \u{1f600}")),
        ("text-latin", TypeCode::STRING, text("l\u{e9}")),
        ("char-latin", TypeCode::CHAR, Value::Char(Char(0xe9))),
        (
            "price",
            TypeCode::fixed(5, 2),
            Value::Fixed(Decimal::from(price)),
        ),
        (
            "longdouble-some",
            TypeCode::LONG_DOUBLE,
            Value::LongDouble(LongDouble::from_f64(-0.1)),
        ),
        (
            "object",
            interface,
            Value::Object(Some(Box::new(reference.clone()))),
        ),
        (
            "abstract-object",
            abstract_one.clone(),
            Value::Object(Some(Box::new(reference))),
        ),
        ("abstract-nil", abstract_one, Value::Object(None)),
        (
            "texts",
            strings,
            Value::Sequence(vec![text("one"), text("two")].into()),
        ),
        (
            "texts-wide",
            wide,
            Value::Sequence(vec![text("eins"), text("")].into()),
        ),
        ("exception-some", exception, why),
    ];
    all.extend(more.map(|(name, one, value)| (name.to_owned(), one, value)));
    all
}
