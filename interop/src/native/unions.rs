//! Unions, one for each type that a discriminator can have.

use super::{Objects, says};
use crate::params as p;
use punctual::Char;

pub(super) fn by_short(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_short(&v);
    let point = p::Point {
        kind: 9,
        x: 2.0,
        mark: Char(b'!'),
        y: 4,
    };
    says(say(p::ByShort::Minus(-5)), "-1:minus=-5")?;
    says(say(p::ByShort::Few(0, "x".to_owned())), "0:few=78,")?;
    says(say(p::ByShort::Few(1, "x".to_owned())), "1:few=78,")?;
    says(
        say(p::ByShort::Many(point)),
        "100:many=(9 4000000000000000 21 4)",
    )?;
    says(say(p::ByShort::Unlabeled(-2)), "-2:")
}

pub(super) fn by_ushort(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_ushort(&v);
    says(say(p::ByUShort::Most(255)), "65535:most=255")?;
    says(say(p::ByUShort::Other(3, "o".to_owned())), "3:other=6f,")
}

pub(super) fn by_long(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_long(&v);
    says(say(p::ByLong::One(1.0)), "1:one=3ff0000000000000")?;
    says(say(p::ByLong::Rest(2, "t".to_owned())), "2:rest=74,")?;
    says(say(p::ByLong::Rest(-9, "t".to_owned())), "-9:rest=74,")
}

pub(super) fn by_ulong(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_ulong(&v);
    says(
        say(p::ByULong::Large([[1, 2], [3, 4], [5, 6]])),
        "4294967295:large=1,2,3,4,5,6,",
    )?;
    says(say(p::ByULong::List(vec![7, -8])), "0:list=7,-8,")?;
    says(say(p::ByULong::Unlabeled(5)), "5:")
}

pub(super) fn by_longlong(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_longlong(&v);
    says(say(p::ByLongLong::D(0.5)), "-5:d=3fe0000000000000")?;
    says(say(p::ByLongLong::F(0.5)), "5:f=3f000000")
}

pub(super) fn by_ulonglong(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_ulonglong(&v);
    says(say(p::ByULongLong::B(true)), "18446744073709551615:b=1")?;
    says(say(p::ByULongLong::S(6, -1)), "6:s=-1")
}

pub(super) fn by_boolean(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_boolean(&v);
    says(say(p::ByBoolean::Yes(3)), "1:yes=3")?;
    says(say(p::ByBoolean::No("n".to_owned())), "0:no=6e,")
}

pub(super) fn by_half(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_half(&v);
    says(say(p::ByHalf::Yes(3)), "1:yes=3")?;
    says(say(p::ByHalf::Unlabeled(false)), "0:")
}

pub(super) fn by_char(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_char(&v);
    says(say(p::ByChar::A(3)), "a:a=3")?;
    says(say(p::ByChar::B(Char(b'c'), "s".to_owned())), "c:b=73,")?;
    says(say(p::ByChar::Rest(Char(b'z'), 8)), "z:rest=8")
}

pub(super) fn by_colour(objects: &Objects) -> Result<(), String> {
    let say = |v| objects.describe.say_by_colour(&v);
    let owner = p::Person {
        name: "N".to_owned(),
        label: "L".to_owned(),
        favourite: p::Colour::Green,
    };
    let colours = vec![p::Colour::Red, p::Colour::Blue];
    says(say(p::ByColour::Owner(owner)), "red:owner=(4e, 4c, green)")?;
    says(
        say(p::ByColour::Others(p::Colour::Blue, colours)),
        "blue:others=red,blue,",
    )
}
