//! Random types and values, from a number.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use punctual_any::{
    Any, DynamicValue, Label, TypeCode, TypeKind, UnionValue, Value, ValueModifier, Visibility,
};
use punctual_cdr::{Char, Decimal, LongDouble};
use punctual_ior::{Ior, TaggedProfile};

/// Stream of pseudo-random numbers with a seed (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.roll() % sides
    }
}

const SIMPLE: [TypeCode; 18] = [
    TypeCode::SHORT,
    TypeCode::LONG,
    TypeCode::USHORT,
    TypeCode::ULONG,
    TypeCode::FLOAT,
    TypeCode::DOUBLE,
    TypeCode::BOOLEAN,
    TypeCode::CHAR,
    TypeCode::OCTET,
    TypeCode::ANY,
    TypeCode::TYPE_CODE,
    TypeCode::LONG_LONG,
    TypeCode::ULONG_LONG,
    TypeCode::LONG_DOUBLE,
    TypeCode::WCHAR,
    TypeCode::STRING,
    TypeCode::WSTRING,
    TypeCode::PRINCIPAL,
];

/// Makes a pseudo-random TypeCode whose parts are nested to at most `levels` levels.
pub(crate) fn any_type(dice: &mut Dice, levels: u32, with_values: bool) -> TypeCode {
    if levels == 0 {
        return SIMPLE[usize::try_from(dice.below(18)).unwrap()].clone();
    }
    let id = format!("IDL:T{}:1.0", dice.roll());
    let part = |dice: &mut Dice| any_type(dice, levels - 1, with_values);
    match dice.below(if with_values { 14 } else { 12 }) {
        0 => TypeCode::string(6 + u32::try_from(dice.below(20)).unwrap()),
        1 => TypeCode::fixed(5, 2),
        2 => TypeCode::enumeration(&id, "E", &["a", "b", "c"]),
        3 | 4 => TypeCode::sequence(&part(dice), 0),
        5 => TypeCode::array(&part(dice), 1 + u32::try_from(dice.below(3)).unwrap()),
        6 => TypeCode::alias(&id, "A", &part(dice)),
        7 => TypeCode::interface(&id, "I"),
        8 => {
            // A recursive one.
            let own = TypeCode::sequence(&TypeCode::recursive(&id), 0);
            TypeCode::structure(&id, "R", &[("own", own), ("other", part(dice))])
        }
        9 => TypeCode::union_(
            &id,
            "U",
            &TypeCode::SHORT,
            &[
                (Label::Value(-1), "m", part(dice)),
                (Label::Default, "d", part(dice)),
                (Label::Value(3), "p", part(dice)),
            ],
        ),
        10 | 11 => {
            let members: Vec<(&str, TypeCode)> =
                ["x", "y", "z"].map(|name| (name, part(dice))).into();
            TypeCode::structure(&id, "S", &members)
        }
        12 => TypeCode::value(
            &id,
            "V",
            ValueModifier::None,
            None,
            &[
                ("next", TypeCode::recursive(&id), Visibility::Public),
                ("state", part(dice), Visibility::Private),
            ],
        ),
        _ => TypeCode::value_box(&id, "B", &TypeCode::sequence(&part(dice), 0)),
    }
}

/// Makes a value of the type; null where it would nest too deep.
pub(crate) fn any_value(dice: &mut Dice, type_code: &TypeCode, levels: u32) -> Value {
    let type_code = type_code.original_type();
    let count = if levels == 0 { 0 } else { dice.below(4) };
    let member = |dice: &mut Dice, index: usize| {
        let member = type_code.member_type(index).unwrap();
        any_value(dice, &member, levels.saturating_sub(1))
    };
    let roll = dice.roll();
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    match type_code.kind() {
        TypeKind::Short => Value::Short(roll as i16),
        TypeKind::UShort => Value::UShort(roll as u16),
        TypeKind::Long => Value::Long(roll as i32),
        TypeKind::ULong => Value::ULong(roll as u32),
        TypeKind::LongLong => Value::LongLong(roll as i64),
        TypeKind::ULongLong => Value::ULongLong(roll),
        TypeKind::Float => Value::Float(roll as f32 / 7.0),
        TypeKind::Double => Value::Double(roll as f64 / 7.0),
        TypeKind::LongDouble => Value::LongDouble(LongDouble::from_f64(roll as f64)),
        TypeKind::Boolean => Value::Boolean(roll.is_multiple_of(2)),
        TypeKind::Octet => Value::Octet(roll as u8),
        TypeKind::Char => Value::Char(Char((roll % 128) as u8)),
        TypeKind::WChar => Value::WChar(char::from_u32(0x20ac + (roll % 50) as u32).unwrap()),
        TypeKind::String | TypeKind::WString => {
            Value::String("grüße".chars().cycle().take((roll % 6) as usize).collect())
        }
        TypeKind::Any if levels == 0 => Value::Any(Box::default()),
        TypeKind::Any => {
            let inner = any_type(dice, 1, false);
            let value = any_value(dice, &inner, levels - 1);
            Value::Any(Box::new(Any::of_value(&inner, &value).unwrap()))
        }
        TypeKind::TypeCode => Value::TypeCode(any_type(dice, 2, true)),
        TypeKind::Principal => Value::Octets(vec![1; count as usize]),
        TypeKind::Fixed => Value::Fixed(Decimal::new((roll % 100_000).into(), 2).unwrap()),
        TypeKind::Enum => Value::Enum((roll % 3) as u32),
        TypeKind::Objref if roll.is_multiple_of(3) => Value::Object(None),
        TypeKind::Objref => Value::Object(Some(Box::new(Ior {
            type_id: "IDL:I:1.0".into(),
            profiles: vec![TaggedProfile {
                tag: 77,
                data: vec![1; count as usize],
            }],
        }))),
        TypeKind::Sequence | TypeKind::Array => {
            let content = type_code.content_type().unwrap();
            let length = match type_code.kind() {
                TypeKind::Array => u64::from(type_code.length().unwrap()),
                _ => count,
            };
            if content.original_type().kind() == TypeKind::Octet {
                return Value::Octets((0..length).map(|_| dice.roll() as u8).collect());
            }
            let each = |_| any_value(dice, &content, levels.saturating_sub(1));
            Value::Sequence((0..length).map(each).collect())
        }
        TypeKind::Struct => {
            let count = type_code.member_count().unwrap();
            Value::Struct((0..count).map(|index| member(dice, index)).collect())
        }
        TypeKind::Union => {
            let discriminator = [-1, 3, 17][(roll % 3) as usize];
            let chosen = type_code.member_chosen(discriminator).unwrap();
            Value::Union(Box::new(UnionValue {
                discriminator,
                member: chosen.map(|index| member(dice, index)),
            }))
        }
        TypeKind::Value | TypeKind::ValueBox if levels == 0 => Value::Valuetype(None),
        TypeKind::Value | TypeKind::ValueBox => {
            let members = DynamicValue::members_of(&type_code).unwrap();
            let members = members
                .iter()
                .map(|(_, member)| any_value(dice, member, levels - 1))
                .collect();
            Value::Valuetype(Some(DynamicValue::create(&type_code, members).unwrap()))
        }
        kind => panic!("no values of {kind:?} are made"),
    }
}
