//! Sequences, arrays and unions.

use super::{Case, person, point, text, twisted};
use crate::params as p;
use punctual::Char;

pub(super) fn sequences() -> Vec<Case> {
    vec![
        pairs!(
            e_octets,
            [
                (vec![], vec![0, 127, 128, 255]),
                (vec![7; 300_000], vec![1])
            ]
        ),
        pairs!(e_booleans, [(vec![], vec![true, false, true])]),
        pairs!(e_chars, [(vec![], vec![Char(b'a'), Char(0x7f), Char(0)])]),
        pairs!(e_widechars, true, [(vec![], vec!['€', 'a', '\u{ffee}'])]),
        pairs!(
            e_shorts,
            [
                (vec![], vec![i16::MIN, 0, i16::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ushorts, [(vec![], vec![u16::MIN, u16::MAX])]),
        pairs!(
            e_longs,
            [
                (vec![], vec![i32::MIN, 0, i32::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ulongs, [(vec![], vec![u32::MIN, u32::MAX])]),
        pairs!(
            e_longlongs,
            [
                (vec![], vec![i64::MIN, 0, i64::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ulonglongs, [(vec![], vec![u64::MIN, u64::MAX])]),
        pairs!(e_floats, [(vec![], vec![f32::INFINITY, -0.5])]),
        pairs!(
            e_doubles,
            [
                (vec![], vec![f64::INFINITY, -0.5]),
                (vec![0.5; 100_001], vec![1.0])
            ]
        ),
        pairs!(
            e_strings,
            [(vec![], vec![text(""), text("ß"), text("xyz")])]
        ),
        pairs!(
            e_widestrings,
            true,
            [(vec![], vec![text(""), text("\u{1f980}"), text("xyz")])]
        ),
        pairs!(e_colours, [(vec![], vec![p::Colour::Blue, p::Colour::Red])]),
        pairs!(
            e_points,
            [
                (vec![], vec![point(1), point(2)]),
                (vec![point(3); 10_000], vec![])
            ]
        ),
        pairs!(e_persons, [(vec![], vec![person("a"), person("")])]),
        pairs!(e_rows, [(vec![], vec![vec![1, 2], vec![], vec![3]])]),
        pairs!(e_fewlongs, [(vec![], vec![1, 2, 3, 4, 5])]),
        pairs!(
            e_fewtags,
            [(vec![], vec![text("12345678"), text(""), text("é")])]
        ),
    ]
}

pub(super) fn arrays() -> Vec<Case> {
    vec![
        pairs!(
            e_matrix,
            [([[1, 2], [3, 4], [5, 6]], [[0, -1], [i32::MIN, 7], [8, 9]])]
        ),
        pairs!(
            e_corners,
            [(
                [point(1), point(2), point(3), point(4)],
                p::Corners::default()
            )]
        ),
        pairs!(
            e_words,
            [([text("one"), text("")], [text("ß"), text("two")])]
        ),
        pairs!(e_digest, [([0; 20], [255; 20])]),
        pairs!(e_ragged, [([vec![1, 2], vec![]], [vec![], vec![3]])]),
    ]
}

pub(super) fn unions() -> Vec<Case> {
    vec![
        pairs!(
            e_byshort,
            [
                (p::ByShort::Minus(-5), p::ByShort::Few(0, text("x"))),
                (p::ByShort::Few(1, text("")), p::ByShort::Many(point(9))),
                (p::ByShort::Unlabeled(-2), p::ByShort::Unlabeled(i16::MAX)),
            ]
        ),
        pairs!(
            e_byushort,
            [(p::ByUShort::Most(1), p::ByUShort::Other(0, text("ß")))]
        ),
        pairs!(
            e_bylong,
            [
                (p::ByLong::One(0.5), p::ByLong::Rest(2, text("12345678"))),
                (
                    p::ByLong::Rest(i32::MIN, text("")),
                    p::ByLong::Rest(i32::MAX, text("x"))
                ),
            ]
        ),
        pairs!(
            e_byulong,
            [
                (
                    p::ByULong::Large([[1, 2], [3, 4], [5, 6]]),
                    p::ByULong::List(vec![7])
                ),
                (p::ByULong::Unlabeled(5), p::ByULong::List(vec![])),
            ]
        ),
        pairs!(
            e_bylonglong,
            [
                (p::ByLongLong::D(0.5), p::ByLongLong::F(-0.5)),
                (
                    p::ByLongLong::Unlabeled(i64::MIN),
                    p::ByLongLong::Unlabeled(i64::MAX)
                ),
            ]
        ),
        pairs!(
            e_byulonglong,
            [(p::ByULongLong::B(true), p::ByULongLong::S(1 << 63, -1))]
        ),
        pairs!(
            e_byboolean,
            [(p::ByBoolean::Yes(1), p::ByBoolean::No(text("no")))]
        ),
        pairs!(e_byhalf, [(p::ByHalf::Yes(1), p::ByHalf::Unlabeled(false))]),
        pairs!(
            e_bychar,
            [
                (p::ByChar::A(1), p::ByChar::B(Char(b'c'), text("s"))),
                (
                    p::ByChar::Rest(Char(b'~'), 8),
                    p::ByChar::Rest(Char(0), 255)
                ),
            ]
        ),
        pairs!(
            e_bycolour,
            [
                (
                    p::ByColour::Owner(person("o")),
                    p::ByColour::Others(p::Colour::Blue, vec![p::Colour::Red])
                ),
                (
                    p::ByColour::Others(p::Colour::Green, vec![]),
                    p::ByColour::Owner(person(""))
                ),
            ]
        ),
    ]
}
