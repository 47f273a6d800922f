//! Our objects, which the peer's client and the peer's relaying servant call.

use crate::params as p;
use crate::words::Words;
use punctual::{
    Char, CompletionStatus, Context, LongDouble, ObjectRef, SystemException, SystemExceptionKind,
};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

type Echoed<T> = Result<(T, T), SystemException>;
type Said = Result<String, SystemException>;

/// Servant of the parameter tests, which returns its arguments.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    posted: AtomicI32,
    counter: AtomicI32,
    tint: Mutex<p::Colour>,
}

/// Echoes the arguments: the result is the original value of the inout parameter; the inout and the
/// out parameter get the value of the in parameter.
fn twist<V, T>(a: &V, b: &mut T) -> Echoed<T>
where
    V: ToOwned<Owned = T> + ?Sized,
{
    Ok((std::mem::replace(b, a.to_owned()), a.to_owned()))
}

macro_rules! by_value {
    ($($operation:ident: $type:ty;)+) => {$(
        fn $operation(&self, a: $type, b: &mut $type) -> Echoed<$type> {
            twist(&a, b)
        }
    )+};
}
macro_rules! by_reference {
    ($($operation:ident: $view:ty => $type:ty;)+) => {$(
        fn $operation(&self, a: $view, b: &mut $type) -> Echoed<$type> {
            twist(a, b)
        }
    )+};
}
macro_rules! by_object {
    ($($operation:ident: $type:ty;)+) => {$(
        fn $operation(&self, a: Option<&$type>, b: &mut Option<$type>) -> Echoed<Option<$type>> {
            twist(&a.cloned(), b)
        }
    )+};
}

/// Returns the system exception that the caller has asked for by its arguments.
fn ordered(kind: &str, minor: u32, completed: u32) -> SystemException {
    let known = SystemExceptionKind::ALL
        .iter()
        .find(|known| known.name() == kind);
    let kind = known.copied().unwrap_or(SystemExceptionKind::BadParam);
    SystemException::new(kind, minor, CompletionStatus::from_number(completed))
}

/// Returns the user exception that the operation `fail` raises for the argument 2.
pub(crate) fn detailed() -> p::Detailed {
    p::Detailed {
        code: -2,
        reason: "grüß".to_owned(),
        r#where: p::Point {
            kind: 7,
            x: -0.5,
            mark: Char(b'm'),
            y: -3,
        },
        trail: vec!["one".to_owned(), String::new()],
    }
}

fn greeting(who: &str) -> Result<String, p::NamedGreetError> {
    if who.is_empty() {
        return Err(p::Refused {
            why: "nobody".to_owned(),
        }
        .into());
    }
    Ok(format!("hello, {who}"))
}

impl p::NamedServant for Parameters {
    fn name(&self) -> Said {
        Ok("Punctual".to_owned())
    }
    fn greet(&self, who: &str) -> Result<String, p::NamedGreetError> {
        greeting(who)
    }
}

impl p::LeftServant for Parameters {
    fn counter(&self) -> Result<i32, SystemException> {
        Ok(self.counter.load(Ordering::Relaxed))
    }
    fn set_counter(&self, value: i32) -> Result<(), SystemException> {
        self.counter.store(value, Ordering::Relaxed);
        Ok(())
    }
}

impl p::RightServant for Parameters {
    fn tint(&self) -> Result<p::Colour, SystemException> {
        Ok(*self.tint.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn set_tint(&self, value: p::Colour) -> Result<(), SystemException> {
        *self.tint.lock().unwrap_or_else(PoisonError::into_inner) = value;
        Ok(())
    }
}

impl p::ParametersServant for Parameters {
    by_value! {
        e_boolean: bool;
        e_octet: u8;
        e_char: Char;
        e_wchar: char;
        e_short: i16;
        e_ushort: u16;
        e_long: i32;
        e_ulong: u32;
        e_longlong: i64;
        e_ulonglong: u64;
        e_float: f32;
        e_double: f64;
        e_longdouble: LongDouble;
        e_money: p::Money;
        e_huge: p::Huge;
        e_fraction: p::Fraction;
        e_colour: p::Colour;
    }
    by_reference! {
        e_string: &str => String;
        e_tag: &str => String;
        e_wstring: &str => String;
        e_widetag: &str => String;
        e_numbers: &p::Numbers => p::Numbers;
        e_point: &p::Point => p::Point;
        e_person: &p::Person => p::Person;
        e_wideperson: &p::WidePerson => p::WidePerson;
        e_line: &p::Line => p::Line;
        e_tree: &p::Tree => p::Tree;
        e_octets: &[u8] => Vec<u8>;
        e_booleans: &[bool] => Vec<bool>;
        e_chars: &[Char] => Vec<Char>;
        e_widechars: &[char] => Vec<char>;
        e_shorts: &[i16] => Vec<i16>;
        e_ushorts: &[u16] => Vec<u16>;
        e_longs: &[i32] => Vec<i32>;
        e_ulongs: &[u32] => Vec<u32>;
        e_longlongs: &[i64] => Vec<i64>;
        e_ulonglongs: &[u64] => Vec<u64>;
        e_floats: &[f32] => Vec<f32>;
        e_doubles: &[f64] => Vec<f64>;
        e_strings: &[String] => Vec<String>;
        e_widestrings: &[String] => Vec<String>;
        e_colours: &[p::Colour] => Vec<p::Colour>;
        e_points: &[p::Point] => Vec<p::Point>;
        e_persons: &[p::Person] => Vec<p::Person>;
        e_rows: &[Vec<i32>] => Vec<Vec<i32>>;
        e_objects: &[Option<ObjectRef>] => Vec<Option<ObjectRef>>;
        e_fewlongs: &[i32] => Vec<i32>;
        e_fewtags: &[String] => Vec<String>;
        e_matrix: &p::Matrix => p::Matrix;
        e_corners: &p::Corners => p::Corners;
        e_words: &p::Words => p::Words;
        e_digest: &p::Digest => p::Digest;
        e_ragged: &p::Ragged => p::Ragged;
        e_byshort: &p::ByShort => p::ByShort;
        e_byushort: &p::ByUShort => p::ByUShort;
        e_bylong: &p::ByLong => p::ByLong;
        e_byulong: &p::ByULong => p::ByULong;
        e_bylonglong: &p::ByLongLong => p::ByLongLong;
        e_byulonglong: &p::ByULongLong => p::ByULongLong;
        e_byboolean: &p::ByBoolean => p::ByBoolean;
        e_byhalf: &p::ByHalf => p::ByHalf;
        e_bychar: &p::ByChar => p::ByChar;
        e_bycolour: &p::ByColour => p::ByColour;
    }
    by_object! {
        e_object: ObjectRef;
        e_named: p::Named;
        e_parameters: p::Parameters;
    }
    fn fail(&self, how: i32) -> Result<i32, p::ParametersFailError> {
        match how {
            1 => Err(p::Empty.into()),
            2 => Err(detailed().into()),
            _ => Ok(how),
        }
    }
    fn fail_system(&self, kind: &str, minor: u32, completed: u32) -> Result<(), SystemException> {
        Err(ordered(kind, minor, completed))
    }
    fn post(&self, value: i32) -> Result<(), SystemException> {
        self.posted.fetch_add(value, Ordering::Relaxed);
        Ok(())
    }
    fn posted(&self) -> Result<i32, SystemException> {
        Ok(self.posted.load(Ordering::Relaxed))
    }
    fn in_context(&self, a: i32, context: &Context) -> Said {
        let mut values: Vec<String> = context
            .iter()
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        values.sort_unstable();
        Ok(a.to_string() + &values.concat())
    }
}

/// Servant that returns a description of its arguments.
#[derive(Debug, Default)]
pub(crate) struct Describe {
    posted: AtomicI32,
    myself: OnceLock<p::Describe>,
}

impl Describe {
    /// Sets the reference of the object that the servant incarnates.
    pub(crate) fn is(&self, myself: &p::Describe) {
        // Only the first reference counts: an object has one.
        let _ = self.myself.set(myself.clone());
    }
}

impl p::NamedServant for Describe {
    fn name(&self) -> Said {
        Ok("Punctual".to_owned())
    }
    fn greet(&self, who: &str) -> Result<String, p::NamedGreetError> {
        greeting(who)
    }
}

macro_rules! says {
    ($($operation:ident: $type:ty;)+) => {$(
        fn $operation(&self, v: &$type) -> Said {
            Ok(v.words())
        }
    )+};
}

impl p::DescribeServant for Describe {
    says! {
        say_numbers: p::Numbers;
        say_by_short: p::ByShort;
        say_by_ushort: p::ByUShort;
        say_by_long: p::ByLong;
        say_by_ulong: p::ByULong;
        say_by_longlong: p::ByLongLong;
        say_by_ulonglong: p::ByULongLong;
        say_by_boolean: p::ByBoolean;
        say_by_half: p::ByHalf;
        say_by_char: p::ByChar;
        say_by_colour: p::ByColour;
    }
    fn say_longdouble(&self, v: LongDouble) -> Said {
        Ok(format!("{}", v.to_f64()))
    }
    fn say_text(&self, c: Char, s: &str, t: &str) -> Said {
        Ok(format!("{:02x} {} {}", u8::from(c), s.words(), t.words()))
    }
    fn say_wide(&self, c: char, s: &str, t: &str) -> Said {
        Ok(format!(
            "{} {} {}",
            c.to_string().words(),
            s.words(),
            t.words()
        ))
    }
    fn say_decimals(&self, a: p::Money, b: p::Huge, c: p::Fraction) -> Said {
        Ok(format!("{a} {b} {c}"))
    }
    fn say_shapes(
        &self,
        l: &p::Line,
        t: &p::Tree,
        m: &p::Matrix,
        w: &p::Words,
        r: &[Vec<i32>],
    ) -> Said {
        let rows: String = r.iter().map(|row| row.words() + "|").collect();
        let [first, second] = w;
        let texts = format!("{}|{}", first.words(), second.words());
        Ok(format!(
            "{} {} {} {texts} {rows}",
            l.words(),
            t.words(),
            m.words()
        ))
    }
    fn invert(&self, v: &[u8]) -> Result<p::Octets, SystemException> {
        Ok(v.iter().map(|octet| !octet).collect())
    }
    fn fail(&self, how: i32) -> Result<i32, p::DescribeFailError> {
        match how {
            1 => Err(p::Empty.into()),
            2 => Err(detailed().into()),
            _ => Ok(how),
        }
    }
    fn fail_system(&self, kind: &str, minor: u32, completed: u32) -> Result<(), SystemException> {
        Err(ordered(kind, minor, completed))
    }
    fn post(&self, value: i32) -> Result<(), SystemException> {
        self.posted.fetch_add(value, Ordering::Relaxed);
        Ok(())
    }
    fn posted(&self) -> Result<i32, SystemException> {
        Ok(self.posted.load(Ordering::Relaxed))
    }
    fn name_of(&self, whom: Option<&p::Named>) -> Said {
        whom.map_or_else(|| Ok("nil".to_owned()), p::Named::name)
    }
    fn myself(&self) -> Result<Option<p::Describe>, SystemException> {
        Ok(self.myself.get().cloned())
    }
    fn nothing(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(None)
    }
}
