//! Calls of each kind, with every answer verified.

use crate::idl::bench::{
    BinStruct, Cube, Cubit, CubitCubeLongError, CubitCubeStructError, TooLarge,
};
use hdrhistogram::Histogram;
use punctual::{Char, Interface, SystemException};
use std::time::{Duration, Instant};

/// Number of elements in each sequence that is sent.
const ELEMENTS: usize = 64;
/// Number of untimed warm-up calls before the timed calls of each kind.
const WARM_UP: u64 = 20;

/// Upper bound of recorded times, in nanoseconds: a minute. Longer calls count as this.
const LONGEST_NS: u64 = 60_000_000_000;

/// Reason why a call to the cubit object counts as failed.
#[derive(Debug)]
pub enum Problem {
    /// The call raised a system exception.
    Exception(SystemException),
    /// The call returned a wrong result.
    WrongAnswer(String),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exception(exception) => write!(f, "{exception}"),
            Self::WrongAnswer(what) => write!(f, "a wrong answer: {what}"),
        }
    }
}

impl std::error::Error for Problem {}

impl From<SystemException> for Problem {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

impl From<CubitCubeLongError> for Problem {
    fn from(error: CubitCubeLongError) -> Self {
        match error {
            CubitCubeLongError::System(exception) => exception.into(),
            other @ CubitCubeLongError::TooLarge(_) => Self::WrongAnswer(other.to_string()),
        }
    }
}

impl From<CubitCubeStructError> for Problem {
    fn from(error: CubitCubeStructError) -> Self {
        match error {
            CubitCubeStructError::System(exception) => exception.into(),
            other @ CubitCubeStructError::TooLarge(_) => Self::WrongAnswer(other.to_string()),
        }
    }
}

/// Kind of call: a function that makes one call, given the call's number.
pub struct Kind<'c> {
    /// Name of the operation, or what is special about the call.
    pub name: &'static str,
    call: Box<dyn Fn(u64) -> Result<(), Problem> + 'c>,
}

impl std::fmt::Debug for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Round-trip times of the timed calls of one kind.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Timing {
    /// Name of the kind of call, which is the called operation.
    pub name: String,
    /// Number of timed calls, all with the right answer.
    pub calls: u64,
    /// Mean call time in microseconds.
    pub mean_us: f64,
    /// Median call time in microseconds.
    pub p50_us: f64,
    /// 99th percentile of the call times in microseconds.
    pub p99_us: f64,
}

impl Kind<'_> {
    /// Makes `calls` calls and verifies each answer.
    ///
    /// # Errors
    /// The first call that failed or returned a wrong result.
    pub fn time(&self, calls: u64) -> Result<Timing, Problem> {
        for number in 0..WARM_UP.min(calls) {
            (self.call)(number)?;
        }
        let mut histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3)
            .map_err(|error| Problem::WrongAnswer(format!("no histogram: {error}")))?;
        for number in 0..calls {
            let began = Instant::now();
            (self.call)(number)?;
            histogram.saturating_record(nanoseconds(began.elapsed()));
        }
        Ok(Timing {
            name: self.name.to_owned(),
            calls,
            mean_us: histogram.mean() / 1000.0,
            p50_us: microseconds(histogram.value_at_quantile(0.5)),
            p99_us: microseconds(histogram.value_at_quantile(0.99)),
        })
    }
}

/// Returns all kinds of calls that the cubit client times.
#[must_use]
pub fn kinds(cubit: &Cubit) -> Vec<Kind<'_>> {
    vec![
        kind("cube_void", move |_| Ok(cubit.cube_void()?)),
        kind("cube_octet", move |number| {
            let o = low_octet(number);
            expect(&cubit.cube_octet(o)?, &o.wrapping_pow(3))
        }),
        kind("cube_short", move |number| {
            let s = i16::from(low_octet(number)) - 128;
            expect(&cubit.cube_short(s)?, &s.wrapping_pow(3))
        }),
        kind("cube_long", move |number| {
            let l = i32::from(low_octet(number)) - 128;
            expect(&cubit.cube_long(l)?, &l.pow(3))
        }),
        kind("cube_struct", move |number| {
            let cube = sample_cube(number);
            let expected = Cube {
                o: cube.o.wrapping_pow(3),
                l: cube.l.pow(3),
                s: cube.s.wrapping_pow(3),
            };
            expect(&cubit.cube_struct(&cube)?, &expected)
        }),
        kind("a user exception", move |number| {
            let value = i32::MAX - i32::from(low_octet(number));
            match cubit.cube_long(value) {
                Err(CubitCubeLongError::TooLarge(exception)) => {
                    expect(&exception, &TooLarge { value })
                }
                Err(CubitCubeLongError::System(exception)) => Err(exception.into()),
                Ok(l) => Err(Problem::WrongAnswer(format!("{value} cubed is not {l}"))),
            }
        }),
        kind("echo_octets", move |number| {
            let values = vec![low_octet(number); ELEMENTS];
            expect(&cubit.echo_octets(&values)?, &values)
        }),
        kind("echo_shorts", move |number| {
            let values = vec![-i16::from(low_octet(number)); ELEMENTS];
            expect(&cubit.echo_shorts(&values)?, &values)
        }),
        kind("echo_longs", move |number| {
            let values = vec![-i32::from(low_octet(number)); ELEMENTS];
            expect(&cubit.echo_longs(&values)?, &values)
        }),
        kind("echo_cubes", move |number| {
            let values = vec![sample_cube(number); ELEMENTS];
            expect(&cubit.echo_cubes(&values)?, &values)
        }),
        kind("echo_bin_structs", move |number| {
            let values = vec![sample_bin_struct(number); ELEMENTS];
            expect(&cubit.echo_bin_structs(&values)?, &values)
        }),
        kind("echo_64", move |number| {
            let value = number.wrapping_mul(0x0101_0101_0101_0101);
            expect(&cubit.echo_64(value)?, &value)
        }),
        kind("ping (one-way)", move |_| Ok(cubit.ping()?)),
    ]
}

/// Verifies what the timed calls do not: every one-way has arrived, and an invalid call raises the
/// right exception.
///
/// # Errors
/// The first failed check.
pub fn verify(cubit: &Cubit, pings_before: u64, pings_sent: u64) -> Result<(), Problem> {
    expect(&(cubit.pings()? - pings_before), &pings_sent)?;
    verify_twins(cubit)?;
    expect(&cubit.as_object().is_a(Cubit::REPOSITORY_ID)?, &true)?;
    expect(&cubit.as_object().is_a("IDL:bench/Nothing:1.0")?, &false)?;
    expect(&cubit.as_object().non_existent()?, &false)?;
    expect(&cubit.as_object().locate()?, &true)
}

/// Verifies that the `_into` variants of operations write their results into existing buffers,
/// without allocating.
fn verify_twins(cubit: &Cubit) -> Result<(), Problem> {
    let (mut octets, mut structs) = (vec![0; 2 * ELEMENTS], Vec::with_capacity(ELEMENTS));
    let before = (octets.as_ptr(), structs.as_ptr());
    for number in 0..3 {
        let sent = vec![low_octet(number); ELEMENTS];
        cubit.echo_octets_into(&sent, &mut octets)?;
        expect(&octets, &sent)?;
        let sent = vec![sample_bin_struct(number); ELEMENTS];
        cubit.echo_bin_structs_into(&sent, &mut structs)?;
        expect(&structs, &sent)?;
    }
    expect(&(octets.as_ptr(), structs.as_ptr()), &before)
}

/// Returns the number of one-ways that [`Kind::time`] sends for `calls` timed ones.
#[must_use]
pub fn pings_of(calls: u64) -> u64 {
    calls + WARM_UP.min(calls)
}

fn kind<'c>(name: &'static str, call: impl Fn(u64) -> Result<(), Problem> + 'c) -> Kind<'c> {
    Kind {
        name,
        call: Box::new(call),
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T) -> Result<(), Problem> {
    if got == expected {
        return Ok(());
    }
    Err(Problem::WrongAnswer(format!(
        "{got:?} instead of {expected:?}"
    )))
}

fn sample_cube(number: u64) -> Cube {
    let o = low_octet(number);
    Cube {
        o,
        l: i32::from(o) - 128,
        s: i16::from(o),
    }
}

fn sample_bin_struct(number: u64) -> BinStruct {
    let o = low_octet(number);
    BinStruct {
        s: -i16::from(o),
        // ASCII: a negotiated code set may have no char beyond it.
        c: Char(o & 0x7f),
        l: i32::from(o) << 16,
        o,
        d: f64::from(o) / 7.0,
    }
}

fn low_octet(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[allow(clippy::cast_precision_loss)]
fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}
