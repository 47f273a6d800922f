//! Calls with a value of each type, which must be returned unchanged.

use punctual::{Char, LongDouble, ObjectRef};
use punctual_interop::generated::{self, everything as e};

use crate::generated::{basics, collections, decimals, expression, texts, tree};

/// Calls an operation `e_…` and checks the three values that are returned.
macro_rules! comes_back {
    ($echo:ident.$operation:ident, $first:expr, $second:expr) => {{
        let (first, second) = ($first, $second);
        let mut b = second.clone();
        let (result, c) = $echo.$operation(&first, &mut b).unwrap();
        assert_eq!(result, second, stringify!($operation));
        assert_eq!(b, first, stringify!($operation));
        assert_eq!(c, first, stringify!($operation));
    }};
    ($echo:ident.$operation:ident by value, $first:expr, $second:expr) => {{
        let (first, second) = ($first, $second);
        let mut b = second;
        let (result, c) = $echo.$operation(first, &mut b).unwrap();
        assert_eq!(result, second, stringify!($operation));
        assert_eq!(b, first, stringify!($operation));
        assert_eq!(c, first, stringify!($operation));
    }};
}

pub(crate) fn scalars_come_back(echo: &e::Echo) {
    comes_back!(echo.e_boolean by value, true, false);
    comes_back!(echo.e_octet by value, 0, 255);
    comes_back!(echo.e_char by value, Char(b'x'), Char(0));
    comes_back!(echo.e_wchar by value, '€', '\0');
    comes_back!(echo.e_short by value, i16::MIN, i16::MAX);
    comes_back!(echo.e_ushort by value, u16::MIN, u16::MAX);
    comes_back!(echo.e_long by value, i32::MIN, i32::MAX);
    comes_back!(echo.e_ulong by value, u32::MIN, u32::MAX);
    comes_back!(echo.e_longlong by value, i64::MIN, i64::MAX);
    comes_back!(echo.e_ulonglong by value, u64::MIN, u64::MAX);
    comes_back!(echo.e_float by value, f32::NEG_INFINITY, -0.0);
    comes_back!(echo.e_double by value, f64::MAX, f64::MIN_POSITIVE);
    let mut nan = f64::NAN;
    let (result, c) = echo.e_double(1.0, &mut nan).unwrap();
    assert!(result.is_nan() && nan == 1.0 && c == 1.0);
    let quarter = LongDouble::from_f64(0.25);
    comes_back!(echo.e_longdouble by value, quarter, LongDouble::from_f64(-1e300));
    comes_back!(echo.e_money by value, e::Money::literal(-999_999_999), e::Money::literal(1));
    let greatest = e::Huge::literal(9_999_999_999_999_999_999_999_999_999_999);
    comes_back!(echo.e_huge by value, greatest, e::Huge::literal(0));
    comes_back!(echo.e_colour by value, e::Colour::DeepBlue, e::Colour::Red);
}

pub(crate) fn texts_and_sequences_come_back(echo: &e::Echo) {
    let text = |s: &str| s.to_owned();
    comes_back!(echo.e_string, text("grüße"), text(""));
    comes_back!(echo.e_bounded, text("12345678"), text(""));
    comes_back!(echo.e_wstring, text("wide 🦀 €"), text(""));
    comes_back!(echo.e_wide_bounded, text("€€€€€€€€"), text("a"));
    comes_back!(echo.e_blob, vec![1, 2, 3], Vec::<u8>::new());
    comes_back!(echo.e_blob, vec![7; 1 << 20], vec![0; 3]);
    comes_back!(
        echo.e_strings,
        vec![text("a"), text("")],
        Vec::<String>::new()
    );
    comes_back!(
        echo.e_wide_strings,
        vec![text("€"), text("")],
        vec![text("b")]
    );
    comes_back!(
        echo.e_names,
        vec![text("12345678"); 3],
        Vec::<String>::new()
    );
    comes_back!(
        echo.e_rows,
        vec![vec![1], Vec::new()],
        Vec::<Vec<i32>>::new()
    );
    comes_back!(echo.e_shorts, vec![i16::MIN, 0, i16::MAX], vec![1_i16]);
    comes_back!(echo.e_few, vec![1, 2, 3, 4, 5], Vec::<i32>::new());
    comes_back!(echo.e_doubles, vec![0.5, f64::INFINITY], vec![-0.0]);
    comes_back!(echo.e_flags, vec![true, false], Vec::<bool>::new());
    comes_back!(
        echo.e_chars,
        vec![Char(b'a'), Char(b'b')],
        Vec::<Char>::new()
    );
    comes_back!(echo.e_wide_chars, vec!['€', 'x'], Vec::<char>::new());
    comes_back!(
        echo.e_colours,
        vec![e::Colour::Green; 3],
        Vec::<e::Colour>::new()
    );
    let bin = collections().bins[0];
    comes_back!(echo.e_bins, vec![bin; 100], Vec::<e::BinStruct>::new());
    comes_back!(
        echo.e_matrices,
        vec![[[1, 2]; 3]; 2],
        Vec::<e::Matrix>::new()
    );
}

/// Checks that a call fails if an argument exceeds the bound of its IDL type.
pub(crate) fn bounds_hold(echo: &e::Echo) {
    let mut name = "123456789".to_owned();
    assert!(
        echo.e_bounded("", &mut name).is_err(),
        "too long for its bound"
    );
    assert_eq!(
        name, "123456789",
        "a call that fails leaves inout parameters alone"
    );
}

pub(crate) fn structs_and_arrays_come_back(echo: &e::Echo) {
    comes_back!(echo.e_basics, basics(), e::Basics::default());
    comes_back!(echo.e_texts, texts(), e::Texts::default());
    comes_back!(echo.e_collections, collections(), e::Collections::default());
    comes_back!(echo.e_decimals, decimals(), e::Decimals::default());
    comes_back!(echo.e_tree, tree(), e::Tree::default());
    comes_back!(echo.e_expression, expression(), e::Expression::default());
    let holder = e::Holder {
        inside: e::holder::Inner {
            x: 1,
            how_deep: e::holder::inner::Depth::Deep,
        },
        anything: None,
        bytes: vec![1],
        root: generated::Rooted { value: 2 },
    };
    comes_back!(echo.e_holder, holder, e::Holder::default());
    comes_back!(
        echo.e_matrix,
        [[1, 2], [3, 4], [5, 6]],
        e::Matrix::default()
    );
    comes_back!(
        echo.e_words,
        [String::new(), "two".to_owned()],
        e::Words::default()
    );
    comes_back!(
        echo.e_wide_words,
        collections().four_words,
        e::WideWords::default()
    );
    comes_back!(echo.e_digest, [1; 40], [0; 40]);
    comes_back!(echo.e_slots, [i64::MIN, 0, 1, 2, i64::MAX], [0; 5]);
    let (first, second) = (Box::new([[0.5; 32]; 32]), Box::new([[-1.0; 32]; 32]));
    let mut b = second.clone();
    let (result, c) = echo.e_plane(&first, &mut b).unwrap();
    assert_eq!((&result, &b, &c), (&second, &first, &first));
    let request = e::echo::Request {
        how: e::echo::Mode::Slow,
        values: vec![1, 2, 3],
    };
    comes_back!(echo.e_request, request, e::echo::Request::default());

    let mut encoder = e::Encoder { vec: true };
    let string = e::String {
        foo_bar: 5,
        ..e::String::default()
    };
    let answer = echo.e_option(&string, &mut encoder).unwrap();
    assert_eq!((answer.self_.as_str(), encoder.vec), ("5", false));
    assert_eq!(answer.outcome, e::Result::Err);
    let many = echo.many().unwrap();
    assert_eq!(
        (many.0, many.5, many.6),
        (vec![vec![0]], vec![vec![5]], vec![])
    );
}

pub(crate) fn unions_come_back(echo: &e::Echo) {
    let few = e::ByShort::Few(2, "few".to_owned());
    comes_back!(echo.e_by_short, few, e::ByShort::Unlabeled(7));
    let other = e::ByUShort::Other(9, texts());
    comes_back!(echo.e_by_ushort, other, e::ByUShort::One(1));
    let bounded = e::ByLong::Bounded(7, "abcd".to_owned());
    comes_back!(echo.e_by_long, bounded, e::ByLong::Wide("€".to_owned()));
    let large = e::ByULong::Large(Box::new([[0.5; 32]; 32]));
    comes_back!(echo.e_by_ulong, large, e::ByULong::Unlabeled(1));
    comes_back!(
        echo.e_by_longlong,
        e::ByLongLong::D(1.0),
        e::ByLongLong::F(2.0)
    );
    comes_back!(
        echo.e_by_ulonglong,
        e::ByULongLong::B(true),
        e::ByULongLong::Unlabeled(0)
    );
    comes_back!(
        echo.e_by_boolean,
        e::ByBoolean::Yes(1),
        e::ByBoolean::No(String::new())
    );
    comes_back!(
        echo.e_by_half,
        e::ByBooleanHalf::Yes(1),
        e::ByBooleanHalf::Unlabeled(false)
    );
    comes_back!(
        echo.e_by_char,
        e::ByChar::A(1),
        e::ByChar::B(Char(b'b'), String::new())
    );
    comes_back!(
        echo.e_by_wchar,
        e::ByWChar::Letter('z', '€'),
        e::ByWChar::Euro(0.5)
    );
    let others = e::ByColour::Others(e::Colour::Green, vec![e::Colour::Red]);
    comes_back!(echo.e_by_colour, others, e::ByColour::RedThing(None));
    let nested = e::ByOctet::Nested(e::ByColour::RedThing(None));
    comes_back!(echo.e_by_octet, nested, e::ByOctet::Unlabeled(1));
}

pub(crate) fn references_come_back(echo: &e::Echo, other: &ObjectRef) {
    let mut b = None;
    let (result, c) = echo.e_object(Some(other), &mut b).unwrap();
    assert_eq!(result, None);
    assert!(
        [b, c]
            .into_iter()
            .all(|object| object.unwrap().is_equivalent(other))
    );
    let (result, c) = echo.e_echo(Some(echo), &mut None).unwrap();
    assert!(result.is_none() && c.is_some());
    let (result, c) = echo.e_later(None, &mut None).unwrap();
    assert!(result.is_none() && c.is_none());
    let mut several = Vec::new();
    let (_, c) = echo
        .e_objects(&[Some(other.clone()), None], &mut several)
        .unwrap();
    assert_eq!(
        c.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false]
    );
    let mut b = Clone::clone(echo);
    let (named, left) = echo.e_non_nil(other, &mut b).unwrap();
    assert_eq!(named.name().unwrap(), "echo");
    left.go_left().unwrap();
    echo.set_peer(Some(other)).unwrap();
    assert!(echo.peer().unwrap().is_some());
    echo.set_peer(None).unwrap();
    assert!(echo.peer().unwrap().is_none());
}
