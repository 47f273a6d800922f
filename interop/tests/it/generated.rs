//! Tests of generated code: every type through CDR in both byte orders, and through an ORB in every
//! direction that a parameter can take.
#![allow(clippy::unwrap_used)]

mod echo;

use std::fmt::Debug;

use punctual::{Char, Fixed, Interface, LongDouble, ObjectRef, RootPoa};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_interop::generated::{self, everything as e};

use echo::{Echoing, Objects, with_objects};

fn marshaled(value: &impl Marshal, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::from_vec(Vec::new()), order, Coding::default());
    value.marshal(&mut out)?;
    Ok(out.into_block().into_vec())
}

fn unmarshaled<T: Unmarshal>(octets: &[u8], order: ByteOrder) -> Result<T, CdrError> {
    T::unmarshal(&mut Decoder::new(octets, order, Coding::default()))
}

/// Checks that a value is unchanged after writing and reading in both byte orders, with no octets
/// left, and that every truncated message is an error.
fn round_trips<T: Marshal + Unmarshal + PartialEq + Debug>(value: &T) {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let octets = marshaled(value, order).unwrap();
        assert!(octets.len() >= T::MIN_SIZE, "MIN_SIZE of {value:?}");
        let mut input = Decoder::new(&octets, order, Coding::default());
        let mut read = T::unmarshal(&mut input).unwrap();
        assert_eq!(&read, value);
        assert_eq!(input.remaining(), 0);
        // Unmarshals over an existing value.
        let mut input = Decoder::new(&octets, order, Coding::default());
        read.unmarshal_into(&mut input).unwrap();
        assert_eq!((&read, input.remaining()), (value, 0));
        // A cut in the middle of a value is detected at any place.
        let step = (octets.len() / 50).max(1);
        for length in (0..octets.len()).step_by(step) {
            assert!(unmarshaled::<T>(&octets[..length], order).is_err());
        }
    }
}

pub(crate) fn basics() -> e::Basics {
    e::Basics {
        b: true,
        c: Char(0x7f),
        wc: '€',
        o: 255,
        s: i16::MIN,
        us: u16::MAX,
        l: i32::MIN,
        ul: u32::MAX,
        ll: i64::MIN,
        ull: u64::MAX,
        f: f32::MIN_POSITIVE,
        d: -0.0,
        ld: LongDouble::from_f64(1.5),
        i8: -128,
        u8: 255,
        i16: -1,
        u16: 1,
        i32: -2,
        u32: 2,
        i64: -3,
        u64: 3,
    }
}

pub(crate) fn texts() -> e::Texts {
    e::Texts {
        plain: "grüße".to_owned(),
        bounded: "12345".to_owned(),
        wide: "wide 🦀".to_owned(),
        wide_bounded: "€".to_owned(),
        alias: String::new(),
    }
}

pub(crate) fn collections() -> e::Collections {
    let bin = e::BinStruct {
        s: -1,
        c: Char(b'z'),
        l: 7,
        o: 8,
        d: f64::INFINITY,
    };
    e::Collections {
        texts: vec!["a".to_owned(), String::new()],
        wide_texts: vec!["ß".to_owned()],
        some_names: vec!["12345678".to_owned(), "x".to_owned()],
        some_rows: vec![vec![1, 2], Vec::new(), vec![3]],
        few: vec![1, 2, 3, 4, 5],
        few_wide: vec!["abc".to_owned(), String::new()],
        a_matrix: [[1, 2], [3, 4], [5, 6]],
        two_words: ["one".to_owned(), "two".to_owned()],
        four_words: [
            ["a".to_owned(), "b".to_owned()],
            ["c".to_owned(), "d".to_owned()],
        ],
        hash: [9; 40],
        surface: Box::new([[0.25; 32]; 32]),
        more: vec![[[0, 1], [2, 3], [4, 5]]; 2],
        colours: [e::Colour::Red, e::Colour::Green, e::Colour::DeepBlue],
        bins: [bin, bin],
    }
}

pub(crate) fn decimals() -> e::Decimals {
    e::Decimals {
        price: Fixed::literal(-123_456_789),
        big: Fixed::literal(9_999_999_999_999_999_999_999_999_999_999),
        part: Fixed::literal(1),
        inline_money: Fixed::literal(99_999),
    }
}

pub(crate) fn tree() -> e::Tree {
    let leaf = |label: &str| e::Tree {
        label: label.to_owned(),
        branches: Vec::new(),
    };
    e::Tree {
        label: "root".to_owned(),
        branches: vec![
            leaf("left"),
            e::Tree {
                label: "right".to_owned(),
                branches: vec![leaf("leaf")],
            },
        ],
    }
}

pub(crate) fn expression() -> e::Expression {
    let one = e::Expression::Factors(e::Operator::Times, Vec::new());
    e::Expression::Summands(vec![
        one.clone(),
        e::Expression::Factors(e::Operator::Times, vec![one]),
    ])
}

#[test]
fn every_type_comes_back_as_it_went_in_both_byte_orders() {
    round_trips(&basics());
    round_trips(&texts());
    round_trips(&collections());
    round_trips(&decimals());
    round_trips(&tree());
    round_trips(&expression());
    round_trips(&generated::Rooted { value: -1 });
    round_trips(&e::Detailed {
        code: 1,
        reason: "weil".to_owned(),
        numbers: basics(),
        trail: vec!["a".to_owned()],
    });
    round_trips(&e::String {
        r#type: 1,
        r#match: 2,
        foo_bar: 3,
        foo_bar_too: 4,
    });
}

#[test]
fn unions_come_back_with_the_discriminator_they_went_with() {
    round_trips(&e::ByShort::Minus(7));
    for label in 0..=3 {
        round_trips(&e::ByShort::Few(label, "few".to_owned()));
    }
    round_trips(&e::ByShort::Many(200, basics()));
    round_trips(&e::ByShort::Unlabeled(-2));
    round_trips(&e::ByUShort::One(1));
    round_trips(&e::ByUShort::Other(65535, texts()));
    round_trips(&e::ByLong::Wide("€".to_owned()));
    round_trips(&e::ByLong::Bounded(2, "1234".to_owned()));
    round_trips(&e::ByLong::Bounded(-9, String::new()));
    round_trips(&e::ByULong::Small([[0; 2]; 3]));
    round_trips(&e::ByULong::Large(Box::new([[1.0; 32]; 32])));
    round_trips(&e::ByLongLong::D(0.5));
    round_trips(&e::ByLongLong::Unlabeled(i64::MIN));
    round_trips(&e::ByULongLong::B(true));
    round_trips(&e::ByBoolean::Yes(1));
    round_trips(&e::ByBoolean::No("no".to_owned()));
    round_trips(&e::ByBooleanHalf::Yes(1));
    round_trips(&e::ByBooleanHalf::Unlabeled(false));
    round_trips(&e::ByBooleanDefault::Yes(true, "yes".to_owned()));
    round_trips(&e::ByChar::A(1));
    round_trips(&e::ByChar::B(Char(b'\''), "b".to_owned()));
    round_trips(&e::ByChar::Rest(Char(b'~'), 1));
    round_trips(&e::ByWChar::Euro(1.0));
    round_trips(&e::ByWChar::Letter('y', 'ß'));
    round_trips(&e::ByColour::Others(
        e::Colour::DeepBlue,
        vec![e::Colour::Red],
    ));
    round_trips(&e::ByOctet::Unlabeled(8));
    round_trips(&e::OnlyDefault::Whatever(-1, "x".to_owned()));
    assert_eq!(e::ByShort::Few(2, String::new()).discriminator(), 2);
    assert_eq!(e::ByShort::Minus(0).discriminator(), -1);
}

#[test]
fn a_union_with_the_discriminator_of_another_member_is_refused() {
    let refused = |value: &dyn Fn() -> Result<Vec<u8>, CdrError>| {
        assert_eq!(value().unwrap_err(), CdrError::UnknownDiscriminator);
    };
    let order = ByteOrder::Big;
    refused(&|| marshaled(&e::ByShort::Few(4, String::new()), order));
    refused(&|| marshaled(&e::ByShort::Unlabeled(-1), order));
    refused(&|| marshaled(&e::ByUShort::Other(1, texts()), order));
    refused(&|| marshaled(&e::ByLong::Bounded(1, String::new()), order));
    refused(&|| marshaled(&e::ByBooleanHalf::Unlabeled(true), order));
    refused(&|| marshaled(&e::ByBooleanDefault::Yes(false, String::new()), order));
    refused(&|| marshaled(&e::ByChar::Rest(Char(b'a'), 0), order));
    refused(&|| marshaled(&e::ByWChar::Unlabeled('x'), order));
    refused(&|| marshaled(&e::ByColour::Others(e::Colour::Red, Vec::new()), order));
}

#[test]
fn bounds_are_checked_in_both_directions() {
    let mut long = texts();
    long.bounded = "123456".to_owned();
    assert!(matches!(
        marshaled(&long, ByteOrder::Big),
        Err(CdrError::BoundExceeded { .. })
    ));
    let mut many = collections();
    many.some_rows = vec![Vec::new(); 5];
    assert!(marshaled(&many, ByteOrder::Big).is_err());
    many = collections();
    many.few_wide = vec![String::new(); 3];
    assert!(marshaled(&many, ByteOrder::Big).is_err());
    // Bounded by 8 in IDL, 9 on the wire.
    let nine = marshaled(&(e::Operator::Times, vec![0_i32; 9]).1, ByteOrder::Big).unwrap();
    let mut octets = marshaled(&e::Operator::Times, ByteOrder::Big).unwrap();
    octets.extend(nine);
    assert!(unmarshaled::<e::Expression>(&octets, ByteOrder::Big).is_err());
}

#[test]
fn an_unknown_enumerator_is_refused() {
    let octets = marshaled(&3_u32, ByteOrder::Big).unwrap();
    assert_eq!(
        unmarshaled::<e::Colour>(&octets, ByteOrder::Big),
        Err(CdrError::UnknownEnumerator(3))
    );
}

#[test]
fn recursion_on_the_wire_ends_at_the_limit() {
    // An empty label and one branch, repeated.
    let mut octets = Vec::new();
    for _ in 0..100_000 {
        octets.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
    assert!(matches!(
        unmarshaled::<e::Tree>(&octets, ByteOrder::Big),
        Err(CdrError::TooDeep { .. })
    ));
}

#[test]
fn constants_have_their_values() {
    assert_eq!(
        (e::YES, e::MASK, e::LETTER, e::ACCENT, e::WIDE_LETTER),
        (true, 0xf0, Char(b'x'), Char(0xe9), '€')
    );
    assert_eq!((e::LOWEST, e::MOST_US, e::ANSWER), (-32768, 65535, 42));
    assert_eq!((e::FLAG_BITS, e::FAR), (0x8000_000f, -i64::MAX));
    assert_eq!((e::FARTHEST, e::HALF, e::TINY), (u64::MAX, 0.5, -1.5e-300));
    assert_eq!(e::ONE_AND_A_HALF.to_f64(), 1.5);
    assert_eq!((e::HELLO, e::WIDE_HELLO), ("hello, \"world\"\n", "grüße"));
    assert_eq!(e::PRICE.to_string().trim_end_matches('0'), "12.5");
    assert_eq!((e::FAVOURITE, e::echo::LIMIT), (e::Colour::DeepBlue, 10));
}

#[test]
fn values_to_start_from_are_zero_and_the_first_of_each() {
    let start = e::Collections::default();
    assert_eq!(start.hash, [0; 40]);
    assert_eq!(start.surface[31][31], 0.0);
    assert_eq!(start.colours, [e::Colour::Red; 3]);
    assert_eq!(e::ByShort::default(), e::ByShort::Minus(0));
    assert_eq!(e::OnlyDefault::default().discriminator(), 0);
    assert_eq!(e::Holder::default().anything, None);
}

#[test]
fn repository_ids_are_those_of_the_idl() {
    assert_eq!(
        e::Echo::REPOSITORY_IDS,
        [
            "IDL:everything/Echo:1.0",
            "IDL:everything/Right:1.0",
            "IDL:everything/Left:1.0",
            "IDL:everything/base/Named:1.0",
        ]
    );
}

#[test]
fn exceptions_say_what_they_are() {
    assert_eq!(e::Empty.to_string(), "everything::Empty");
    let error = e::EchoFailError::from(e::Error { fmt: 3 });
    assert_eq!(error.to_string(), "everything::Error: Error { fmt: 3 }");
}

#[test]
fn every_type_goes_every_way_through_an_orb() {
    with_objects(|objects| {
        let Objects { echo, other, .. } = objects;
        if objects.by_requests {
            echo::bounds_hold(echo);
        }
        echo::scalars_come_back(echo);
        echo::texts_and_sequences_come_back(echo);
        echo::structs_and_arrays_come_back(echo);
        echo::unions_come_back(echo);
        echo::references_come_back(echo, other);
    });
}

#[test]
fn a_user_exception_arrives_with_its_members() {
    with_objects(|Objects { echo, .. }| {
        assert_eq!(echo.fail(0), Ok(0));
        assert_eq!(echo.fail(1), Err(e::Empty.into()));
        assert_eq!(echo.fail(2), Err(Echoing::detailed().into()));
        let busy = e::echo::Busy {
            how: e::echo::Mode::Slow,
        };
        assert_eq!(echo.fail(3), Err(busy.into()));
        assert_eq!(echo.fail(4), Err(e::Error { fmt: 4 }.into()));
        assert_eq!(echo.fail(5), Err(e::EchoFailError::System_(e::System)));
        assert!(matches!(echo.fail(6), Err(e::EchoFailError::System(_))));
        let refused = echo.greet("nobody").unwrap_err();
        assert!(matches!(refused, e::base::NamedGreetError::Refused(r) if r.why == "nobody"));
    });
}

#[test]
fn attributes_contexts_and_awkward_names_work() {
    with_objects(|Objects { echo, .. }| {
        echo.set_title("new").unwrap();
        assert_eq!(echo.title().unwrap(), "new");
        echo.set_wide_title("€").unwrap();
        assert_eq!(echo.wide_title().unwrap(), "€");
        assert_eq!(echo.table().unwrap(), vec![vec![1], vec![2, 3]]);
        assert_eq!(echo.guarded(), Err(e::Empty.into()));
        echo.set_guarded(1).unwrap();
        echo.set_tint(e::Colour::Green).unwrap();
        assert_eq!(echo.tint().unwrap(), e::Colour::Green);
        assert_eq!(echo.name().unwrap(), "echo");

        let mut context = punctual::Context::new();
        context.set("user", "me");
        context.set("project.name", "x");
        context.set("other", "y");
        assert_eq!(
            echo.in_context(1, &context).unwrap(),
            "1 project.name=x user=me"
        );

        echo.clone().unwrap();
        assert_eq!(echo.into(1, 2, 3, 4).unwrap(), 10);
        assert_eq!(echo.narrow("text").unwrap(), "text");
        assert!(echo.marshal(true).unwrap());
        echo.foo_bar().unwrap();
        echo.foo_bar_().unwrap();
        echo.set_title_("again").unwrap();
        echo.chosen().unwrap();
        echo.eight(1, 2, 3, 4, 5, 6, 7, 8).unwrap();
        echo.nothing().unwrap();
        echo.notify("text", 3).unwrap();
    });
}

#[test]
fn a_derived_reference_widens_and_narrows_back() {
    with_objects(|Objects { echo, .. }| {
        let named = e::base::Named::from(Clone::clone(echo));
        assert_eq!(named.greet("you").unwrap(), "hello, you");
        let object = ObjectRef::from(named);
        assert!(<e::Echo as Interface>::narrow(object.clone()).is_ok());
        assert!(e::Later::narrow(object).is_err());
    });
}

#[test]
fn local_interfaces_are_traits() {
    struct Guard;
    impl e::Watcher for Guard {
        fn watch(
            &self,
            _what: Option<&e::Echo>,
            cookie: &std::num::NonZeroU64,
            next: Option<&std::sync::Arc<dyn e::Watcher>>,
        ) -> Result<std::num::NonZeroU64, e::WatcherWatchError> {
            match next {
                Some(next) => next.watch(None, cookie, None),
                None => Err(e::watcher::Tired.into()),
            }
        }
        fn seen(&self) -> Result<i32, punctual::SystemException> {
            Ok(1)
        }
    }
    let guard: std::sync::Arc<dyn e::Watcher> = std::sync::Arc::new(Guard);
    let cookie = std::num::NonZeroU64::MIN;
    assert_eq!(
        guard.watch(None, &cookie, Some(&guard)),
        Err(e::watcher::Tired.into())
    );
}

#[test]
fn a_shared_servant_is_a_servant() {
    let orb = echo::orb(&["test"]);
    let poa = orb.root_poa().unwrap();
    let shared = std::sync::Arc::new(Echoing::default());
    let echo: e::Echo = poa.activate(shared.clone()).unwrap();
    poa.manager().activate().unwrap();
    echo.set_title("shared").unwrap();
    assert_eq!(*shared.title.lock().unwrap(), "shared");
    orb.shutdown(true).unwrap();
}

#[test]
fn idl_may_derive_from_idl_of_another_crate() {
    use punctual_interop::base::everything::base as b;
    use punctual_interop::{client_only, derived::derived as d};

    struct Naming;
    impl b::NamedServant for Naming {
        fn name(&self) -> Result<String, punctual::SystemException> {
            Ok("derived".to_owned())
        }
        fn greet(&self, _who: &str) -> Result<String, b::NamedGreetError> {
            let why = "busy".to_owned();
            Err(b::Refused { why }.into())
        }
    }
    impl d::RenamedServant for Naming {
        fn rename(&self, to: &str) -> Result<d::NamedBlob, d::RenamedRenameError> {
            let bytes = to.as_bytes().to_vec();
            Ok(d::NamedBlob { bytes, from: None })
        }
    }
    let orb = echo::orb(&["test"]);
    let poa = orb.root_poa().unwrap();
    let renamed: d::Renamed = poa.activate(Naming).unwrap();
    poa.manager().activate().unwrap();
    // Another compilation of the same IDL calls it as well.
    let caller = client_only::derived::Renamed::narrow(ObjectRef::from(renamed)).unwrap();
    assert_eq!(caller.rename("abc").unwrap().bytes, b"abc");
    let named = b::Named::from(caller);
    assert_eq!(named.name().unwrap(), "derived");
    assert!(matches!(
        named.greet("x"),
        Err(b::NamedGreetError::Refused(_))
    ));
    orb.shutdown(true).unwrap();
}
