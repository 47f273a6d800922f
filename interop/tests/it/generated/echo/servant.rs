//! Servant of the echo tests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use punctual::{
    Char, CompletionStatus, Context, Interface, LongDouble, ObjectRef, SystemException,
    SystemExceptionKind,
};
use punctual_interop::generated::everything as e;

use crate::generated::basics;

/// Result and out parameter of an operation `e_…`: the original value of the inout parameter, and
/// the value of the in parameter. The inout parameter gets the value of the in parameter, too.
type Echoed<T> = Result<(T, T), SystemException>;

fn swap<V, T>(a: &V, b: &mut T) -> Echoed<T>
where
    V: ToOwned<Owned = T> + ?Sized,
    T: Clone,
{
    let before = std::mem::replace(b, a.to_owned());
    Ok((before, a.to_owned()))
}

/// Echo servant, which returns its arguments.
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
