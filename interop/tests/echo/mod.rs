//! An object that gives back what it gets, and what calls it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use punctual::{
    Char, CompletionStatus, Context, Interface, LongDouble, ObjectRef, Orb, RootPoa,
    SystemException, SystemExceptionKind,
};
use punctual_interop::generated::{self, everything as e};

use crate::{basics, collections, decimals, expression, texts, tree};

/// What an operation `e_…` answers: the inout parameter as it came, then the in parameter as out;
/// the inout parameter becomes the in parameter too.
type Echoed<T> = Result<(T, T), SystemException>;

fn swap<V, T>(a: &V, b: &mut T) -> Echoed<T>
where
    V: ToOwned<Owned = T> + ?Sized,
    T: Clone,
{
    let before = std::mem::replace(b, a.to_owned());
    Ok((before, a.to_owned()))
}

/// The servant.
#[derive(Debug, Default)]
pub(crate) struct Echoing {
    pub(crate) title: Mutex<String>,
    wide_title: Mutex<String>,
    tint: Mutex<e::Colour>,
    notified: AtomicI32,
    peer: Mutex<Option<ObjectRef>>,
}

impl Echoing {
    pub(crate) fn detailed() -> e::Detailed {
        e::Detailed {
            code: -2,
            reason: "weil €".to_owned(),
            numbers: basics(),
            trail: vec!["one".to_owned(), "two".to_owned()],
        }
    }
}

impl e::base::NamedServant for Echoing {
    fn name(&self) -> Result<String, SystemException> {
        Ok("echo".to_owned())
    }
    fn greet(&self, who: &str) -> Result<String, e::base::NamedGreetError> {
        if who == "nobody" {
            let why = who.to_owned();
            return Err(e::base::Refused { why }.into());
        }
        Ok(format!("hello, {who}"))
    }
}

impl e::LeftServant for Echoing {
    fn go_left(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl e::RightServant for Echoing {
    fn go_right(&self) -> Result<(), e::RightGoRightError> {
        Ok(())
    }
    fn tint(&self) -> Result<e::Colour, SystemException> {
        Ok(*self.tint.lock().unwrap())
    }
    fn set_tint(&self, value: e::Colour) -> Result<(), SystemException> {
        *self.tint.lock().unwrap() = value;
        Ok(())
    }
}

impl e::EchoServant for Echoing {
    fn nothing(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn notify(&self, text: &str, times: i32) -> Result<(), SystemException> {
        assert_eq!(text, "text");
        self.notified.store(times, Ordering::Relaxed);
        Ok(())
    }
    fn e_boolean(&self, a: bool, b: &mut bool) -> Echoed<bool> {
        swap(&a, b)
    }
    fn e_octet(&self, a: u8, b: &mut u8) -> Echoed<u8> {
        swap(&a, b)
    }
    fn e_char(&self, a: Char, b: &mut Char) -> Echoed<Char> {
        swap(&a, b)
    }
    fn e_wchar(&self, a: char, b: &mut char) -> Echoed<char> {
        swap(&a, b)
    }
    fn e_short(&self, a: i16, b: &mut i16) -> Echoed<i16> {
        swap(&a, b)
    }
    fn e_ushort(&self, a: u16, b: &mut u16) -> Echoed<u16> {
        swap(&a, b)
    }
    fn e_long(&self, a: i32, b: &mut i32) -> Echoed<i32> {
        swap(&a, b)
    }
    fn e_ulong(&self, a: u32, b: &mut u32) -> Echoed<u32> {
        swap(&a, b)
    }
    fn e_longlong(&self, a: i64, b: &mut i64) -> Echoed<i64> {
        swap(&a, b)
    }
    fn e_ulonglong(&self, a: u64, b: &mut u64) -> Echoed<u64> {
        swap(&a, b)
    }
    fn e_float(&self, a: f32, b: &mut f32) -> Echoed<f32> {
        swap(&a, b)
    }
    fn e_double(&self, a: f64, b: &mut f64) -> Echoed<f64> {
        swap(&a, b)
    }
    fn e_longdouble(&self, a: LongDouble, b: &mut LongDouble) -> Echoed<LongDouble> {
        swap(&a, b)
    }
    fn e_money(&self, a: e::Money, b: &mut e::Money) -> Echoed<e::Money> {
        swap(&a, b)
    }
    fn e_huge(&self, a: e::Huge, b: &mut e::Huge) -> Echoed<e::Huge> {
        swap(&a, b)
    }
    fn e_colour(&self, a: e::Colour, b: &mut e::Colour) -> Echoed<e::Colour> {
        swap(&a, b)
    }
    fn e_basics(&self, a: &e::Basics, b: &mut e::Basics) -> Echoed<e::Basics> {
        swap(a, b)
    }
    fn e_texts(&self, a: &e::Texts, b: &mut e::Texts) -> Echoed<e::Texts> {
        swap(a, b)
    }
    fn e_collections(&self, a: &e::Collections, b: &mut e::Collections) -> Echoed<e::Collections> {
        swap(a, b)
    }
    fn e_decimals(&self, a: &e::Decimals, b: &mut e::Decimals) -> Echoed<e::Decimals> {
        swap(a, b)
    }
    fn e_tree(&self, a: &e::Tree, b: &mut e::Tree) -> Echoed<e::Tree> {
        swap(a, b)
    }
    fn e_expression(&self, a: &e::Expression, b: &mut e::Expression) -> Echoed<e::Expression> {
        swap(a, b)
    }
    fn e_holder(&self, a: &e::Holder, b: &mut e::Holder) -> Echoed<e::Holder> {
        swap(a, b)
    }
    fn e_matrix(&self, a: &e::Matrix, b: &mut e::Matrix) -> Echoed<e::Matrix> {
        swap(a, b)
    }
    fn e_words(&self, a: &e::Words, b: &mut e::Words) -> Echoed<e::Words> {
        swap(a, b)
    }
    fn e_wide_words(&self, a: &e::WideWords, b: &mut e::WideWords) -> Echoed<e::WideWords> {
        swap(a, b)
    }
    fn e_digest(&self, a: &e::Digest, b: &mut e::Digest) -> Echoed<e::Digest> {
        swap(a, b)
    }
    fn e_slots(&self, a: &e::Slots, b: &mut e::Slots) -> Echoed<e::Slots> {
        swap(a, b)
    }
    fn e_by_short(&self, a: &e::ByShort, b: &mut e::ByShort) -> Echoed<e::ByShort> {
        swap(a, b)
    }
    fn e_by_ushort(&self, a: &e::ByUShort, b: &mut e::ByUShort) -> Echoed<e::ByUShort> {
        swap(a, b)
    }
    fn e_by_long(&self, a: &e::ByLong, b: &mut e::ByLong) -> Echoed<e::ByLong> {
        swap(a, b)
    }
    fn e_by_ulong(&self, a: &e::ByULong, b: &mut e::ByULong) -> Echoed<e::ByULong> {
        swap(a, b)
    }
    fn e_by_longlong(&self, a: &e::ByLongLong, b: &mut e::ByLongLong) -> Echoed<e::ByLongLong> {
        swap(a, b)
    }
    fn e_by_ulonglong(&self, a: &e::ByULongLong, b: &mut e::ByULongLong) -> Echoed<e::ByULongLong> {
        swap(a, b)
    }
    fn e_by_boolean(&self, a: &e::ByBoolean, b: &mut e::ByBoolean) -> Echoed<e::ByBoolean> {
        swap(a, b)
    }
    fn e_by_half(
        &self,
        a: &e::ByBooleanHalf,
        b: &mut e::ByBooleanHalf,
    ) -> Echoed<e::ByBooleanHalf> {
        swap(a, b)
    }
    fn e_by_char(&self, a: &e::ByChar, b: &mut e::ByChar) -> Echoed<e::ByChar> {
        swap(a, b)
    }
    fn e_by_wchar(&self, a: &e::ByWChar, b: &mut e::ByWChar) -> Echoed<e::ByWChar> {
        swap(a, b)
    }
    fn e_by_colour(&self, a: &e::ByColour, b: &mut e::ByColour) -> Echoed<e::ByColour> {
        swap(a, b)
    }
    fn e_by_octet(&self, a: &e::ByOctet, b: &mut e::ByOctet) -> Echoed<e::ByOctet> {
        swap(a, b)
    }
    fn e_request(
        &self,
        a: &e::echo::Request,
        b: &mut e::echo::Request,
    ) -> Echoed<e::echo::Request> {
        swap(a, b)
    }
    fn e_string(&self, a: &str, b: &mut String) -> Echoed<String> {
        swap(a, b)
    }
    fn e_bounded(&self, a: &str, b: &mut String) -> Echoed<String> {
        swap(a, b)
    }
    fn e_wstring(&self, a: &str, b: &mut String) -> Echoed<String> {
        swap(a, b)
    }
    fn e_wide_bounded(&self, a: &str, b: &mut String) -> Echoed<String> {
        swap(a, b)
    }
    fn e_blob(&self, a: &[u8], b: &mut Vec<u8>) -> Echoed<Vec<u8>> {
        swap(a, b)
    }
    fn e_strings(&self, a: &[String], b: &mut Vec<String>) -> Echoed<Vec<String>> {
        swap(a, b)
    }
    fn e_wide_strings(&self, a: &[String], b: &mut Vec<String>) -> Echoed<Vec<String>> {
        swap(a, b)
    }
    fn e_names(&self, a: &[String], b: &mut Vec<String>) -> Echoed<Vec<String>> {
        swap(a, b)
    }
    fn e_rows(&self, a: &[Vec<i32>], b: &mut Vec<Vec<i32>>) -> Echoed<Vec<Vec<i32>>> {
        swap(a, b)
    }
    fn e_shorts(&self, a: &[i16], b: &mut Vec<i16>) -> Echoed<Vec<i16>> {
        swap(a, b)
    }
    fn e_few(&self, a: &[i32], b: &mut Vec<i32>) -> Echoed<Vec<i32>> {
        swap(a, b)
    }
    fn e_doubles(&self, a: &[f64], b: &mut Vec<f64>) -> Echoed<Vec<f64>> {
        swap(a, b)
    }
    fn e_flags(&self, a: &[bool], b: &mut Vec<bool>) -> Echoed<Vec<bool>> {
        swap(a, b)
    }
    fn e_chars(&self, a: &[Char], b: &mut Vec<Char>) -> Echoed<Vec<Char>> {
        swap(a, b)
    }
    fn e_wide_chars(&self, a: &[char], b: &mut Vec<char>) -> Echoed<Vec<char>> {
        swap(a, b)
    }
    fn e_colours(&self, a: &[e::Colour], b: &mut Vec<e::Colour>) -> Echoed<Vec<e::Colour>> {
        swap(a, b)
    }
    fn e_bins(&self, a: &[e::BinStruct], b: &mut Vec<e::BinStruct>) -> Echoed<Vec<e::BinStruct>> {
        swap(a, b)
    }
    fn e_matrices(&self, a: &[e::Matrix], b: &mut Vec<e::Matrix>) -> Echoed<Vec<e::Matrix>> {
        swap(a, b)
    }
    fn e_objects(
        &self,
        a: &[Option<ObjectRef>],
        b: &mut Vec<Option<ObjectRef>>,
    ) -> Echoed<Vec<Option<ObjectRef>>> {
        swap(a, b)
    }
    fn e_object(
        &self,
        a: Option<&ObjectRef>,
        b: &mut Option<ObjectRef>,
    ) -> Echoed<Option<ObjectRef>> {
        swap(&a.cloned(), b)
    }
    fn e_echo(&self, a: Option<&e::Echo>, b: &mut Option<e::Echo>) -> Echoed<Option<e::Echo>> {
        swap(&a.cloned(), b)
    }
    fn e_later(&self, a: Option<&e::Later>, b: &mut Option<e::Later>) -> Echoed<Option<e::Later>> {
        swap(&a.cloned(), b)
    }
    fn e_plane(&self, a: &[[f64; 32]; 32], b: &mut e::Plane) -> Echoed<e::Plane> {
        swap(&Box::new(*a), b)
    }
    fn e_non_nil(
        &self,
        a: &ObjectRef,
        b: &mut e::Echo,
    ) -> Result<(e::base::Named, e::Left), SystemException> {
        let before = std::mem::replace(b, e::Echo::from_object(a.clone()));
        Ok((
            Clone::clone(&before).into(),
            Interface::from_object(a.clone()),
        ))
    }
    fn e_option(&self, a: &e::String, b: &mut e::Encoder) -> Result<e::Option, SystemException> {
        b.vec = !b.vec;
        Ok(e::Option {
            outcome: e::Result::Err,
            self_: a.foo_bar.to_string(),
        })
    }
    fn fail(&self, how: i32) -> Result<i32, e::EchoFailError> {
        Err(match how {
            0 => return Ok(0),
            1 => e::Empty.into(),
            2 => Echoing::detailed().into(),
            3 => {
                let how = e::echo::Mode::Slow;
                e::echo::Busy { how }.into()
            }
            4 => e::Error { fmt: 4 }.into(),
            5 => e::System.into(),
            _ => SystemException::new(SystemExceptionKind::NoPermission, 0, CompletionStatus::No)
                .into(),
        })
    }
    fn title(&self) -> Result<String, SystemException> {
        Ok(self.title.lock().unwrap().clone())
    }
    fn set_title(&self, value: &str) -> Result<(), SystemException> {
        value.clone_into(&mut self.title.lock().unwrap());
        Ok(())
    }
    fn wide_title(&self) -> Result<String, SystemException> {
        Ok(self.wide_title.lock().unwrap().clone())
    }
    fn set_wide_title(&self, value: &str) -> Result<(), SystemException> {
        value.clone_into(&mut self.wide_title.lock().unwrap());
        Ok(())
    }
    fn table(&self) -> Result<e::Rows, SystemException> {
        Ok(vec![vec![1], vec![2, 3]])
    }
    fn peer(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(self.peer.lock().unwrap().clone())
    }
    fn set_peer(&self, value: Option<&ObjectRef>) -> Result<(), SystemException> {
        *self.peer.lock().unwrap() = value.cloned();
        Ok(())
    }
    fn guarded(&self) -> Result<i32, e::EchoGetGuardedError> {
        Err(e::Empty.into())
    }
    fn set_guarded(&self, _value: i32) -> Result<(), e::EchoSetGuardedError> {
        Ok(())
    }
    fn in_context(&self, a: i32, context: &Context) -> Result<String, SystemException> {
        let values = context
            .iter()
            .map(|(name, value)| format!(" {name}={value}"));
        Ok(a.to_string() + &values.collect::<String>())
    }
    fn clone(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn into(&self, self_: i32, out: i32, reply: i32, call: i32) -> Result<i32, SystemException> {
        Ok(self_ + out + reply + call)
    }
    fn narrow(&self, r#type: &str) -> Result<String, SystemException> {
        Ok(r#type.to_owned())
    }
    fn marshal(&self, unmarshal: bool) -> Result<bool, SystemException> {
        Ok(unmarshal)
    }
    fn foo_bar(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn foo_bar_(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn set_title_(&self, _title: &str) -> Result<(), SystemException> {
        Ok(())
    }
    fn chosen(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn eight(
        &self,
        a: i32,
        b: i32,
        c: i32,
        d: i32,
        e: i32,
        f: i32,
        g: i32,
        h: i32,
    ) -> Result<(), SystemException> {
        assert_eq!([a, b, c, d, e, f, g, h], [1, 2, 3, 4, 5, 6, 7, 8]);
        Ok(())
    }
    #[allow(clippy::type_complexity)]
    fn many(
        &self,
    ) -> Result<
        (
            e::Rows,
            e::Rows,
            e::Rows,
            e::Rows,
            e::Rows,
            e::Rows,
            e::Names,
        ),
        SystemException,
    > {
        let rows = |n| vec![vec![n]];
        Ok((
            rows(0),
            rows(1),
            rows(2),
            rows(3),
            rows(4),
            rows(5),
            Vec::new(),
        ))
    }
}

/// What the tests call.
pub(crate) struct Objects {
    pub(crate) echo: e::Echo,
    /// Another object, of whatever type.
    pub(crate) other: ObjectRef,
    /// Whether calls are made by requests.
    pub(crate) by_requests: bool,
}

pub(crate) fn orb(arguments: &[&str]) -> Orb {
    let arguments = arguments.iter().map(|&argument| argument.to_owned());
    Orb::init(arguments).unwrap().0
}

/// A server with two objects, whose calls within the process go that way.
fn served(way: &str) -> (Orb, e::Echo, ObjectRef) {
    let listen = "-ORBListenEndpoints";
    let endpoint = "iiop://127.0.0.1:0";
    let server = orb(&["server", listen, endpoint, "-ORBCollocation", way]);
    let poa = server.root_poa().unwrap();
    let echo: e::Echo = poa.activate(Echoing::default()).unwrap();
    let other: e::Echo = poa.activate(Echoing::default()).unwrap();
    poa.manager().activate().unwrap();
    (server, echo, ObjectRef::from(other))
}

/// Runs a test three times: within one ORB, without requests and by requests, and from one ORB to another
/// over TCP.
pub(crate) fn with_objects(test: impl Fn(&Objects)) {
    for (way, by_requests) in [("thru_poa", false), ("none", true)] {
        let (server, echo, other) = served(way);
        test(&Objects {
            echo,
            other,
            by_requests,
        });
        server.shutdown(true).unwrap();
    }
    let (server, echo, other) = served("none");
    let client = orb(&["client", "-ORBCollocation", "none"]);
    let ior = server.object_to_string(&echo).unwrap();
    let remote = client.string_to_object(&ior).unwrap();
    test(&Objects {
        echo: <e::Echo as Interface>::narrow(remote).unwrap(),
        other,
        by_requests: true,
    });
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}

/// Calls an operation `e_…` and checks the three values that come back.
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

/// What is marshaled is held to the bounds of its type.
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
