//! Model made of measured operations.

use super::arrivals::Arrivals;
use super::file::{MeasuredOperation, Measurements};
use crate::model::{LONGEST_NAME, MOST_OPERATIONS};
use crate::time::Time;
use std::fmt::{self, Write};
use std::str::FromStr;

/// Margin on measured execution times, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin(u32);

/// Error: a text is no margin.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no margin: write hundredths from 0 to 1000, such as 20%")]
pub struct MarginError(String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for MarginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Margin {
    /// Returns the time with the margin added.
    #[must_use]
    pub fn on(self, time: Time) -> Time {
        let scaled = u128::from(time.as_nanos()) * u128::from(100 + self.0);
        let nanos = u64::try_from(scaled.div_ceil(100)).unwrap_or(u64::MAX);
        Time::from_nanos(nanos).min(Time::LONGEST)
    }
}

impl FromStr for Margin {
    type Err = MarginError;

    fn from_str(text: &str) -> Result<Self, MarginError> {
        let number = text.trim().trim_end_matches('%').trim_end();
        let parsed = number.parse().ok().filter(|number| *number <= 1000);
        parsed.map(Self).ok_or_else(|| MarginError(text.to_owned()))
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// Model made of measured operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredModel {
    /// Model, in TOML.
    pub text: String,
    /// Number of operations in it.
    pub operations: usize,
    /// Remarks on operations that are left out, or whose times the model does not have as measured; each
    /// names its operation.
    pub remarks: Vec<String>,
}

/// Makes a model in TOML with the measured operations: the longest execution time with the margin
/// as `wcet`, the median as `typical`, and a `period` with its `jitter` within which all jobs came, bursts included.
/// Comments tell what was measured, and what is left out.
///
/// The deadline is a period after the latest release. Files of earlier versions do not tell of bursts: the shortest
/// distance is the period, or the mean one if jobs came closer together than one takes. An operation with a single job
/// has no distance, and is left out. So is one with an execution time or a jitter above a day, the longest time of a
/// model; longer periods and deadlines are cut to a day, which is safe.
#[must_use]
pub fn model_of(measured: &Measurements, margin: Margin) -> MeasuredModel {
    let mut model = MeasuredModel {
        text: String::new(),
        operations: 0,
        remarks: Vec::new(),
    };
    let out = &mut model.text;
    *out = format!(
        "# Measured, with a margin of {margin} on the longest execution times. The longest that was measured is no proof of\n\
         # the longest possible: run the worst cases, and complete deadlines, criticalities, calls and locks.\n"
    );
    if measured.not_recorded > 0 {
        let jobs = measured.not_recorded;
        write_comment(
            out,
            &format!("{jobs} jobs of further operations were not recorded."),
        );
    }
    for (index, (name, operation)) in measured.by_name().into_iter().enumerate() {
        if index >= MOST_OPERATIONS {
            write_comment(&mut model.text, "Further operations are left out.");
            let most = format!(
                "{name:?} and those behind it: left out, as a model has at most {MOST_OPERATIONS}"
            );
            model.remarks.push(most);
            break;
        }
        model.add(name, &operation, margin);
    }
    model
}

impl MeasuredModel {
    /// Adds an operation, or a comment and a remark on why it is left out.
    fn add(&mut self, name: &str, one: &MeasuredOperation, margin: Margin) {
        self.text.push('\n');
        if let Some(reason) = reason_to_leave_out(name, one, margin) {
            return self.remark(format!("{}: left out, {reason}", plain(name)));
        }
        if let Some(what) = cut_time(one) {
            self.remark(format!(
                "{name}: its {what} is cut to a day, the longest time of a model"
            ));
        }
        self.operations += 1;
        write_operation(&mut self.text, name, one, margin);
    }

    fn remark(&mut self, remark: String) {
        write_comment(&mut self.text, &format!("{remark}."));
        self.remarks.push(remark);
    }
}

/// Returns a name as it is in a comment: quoted and escaped if it is none of a model.
fn plain(name: &str) -> String {
    match is_name(name) {
        true => name.to_owned(),
        false => format!("{name:?}"),
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
}

fn reason_to_leave_out(name: &str, one: &MeasuredOperation, margin: Margin) -> Option<String> {
    let longest = one.execution.max;
    let wcet = wcet(one, margin);
    let jitter = one.arrivals.map_or(Time::ZERO, |arrivals| arrivals.jitter);
    if !is_name(name) {
        Some("as it is no name of a model".to_owned())
    } else if wcet >= Time::LONGEST {
        Some(format!(
            "as its execution time of {longest} with the margin is not below a day, the longest time of a model"
        ))
    } else if one.distance.count == 0 {
        Some(format!("as a single job has no period; wcet {wcet}"))
    } else if jitter > Time::LONGEST {
        Some(format!(
            "as its jitter of {jitter} is longer than a day, the longest time of a model"
        ))
    } else {
        None
    }
}

fn wcet(one: &MeasuredOperation, margin: Margin) -> Time {
    up(margin.on(one.execution.max.max(Time::from_nanos(1))))
}

/// Returns the time of an operation that is longer than a model's.
fn cut_time(one: &MeasuredOperation) -> Option<String> {
    let (period, jitter) = match one.arrivals {
        Some(arrivals) => (arrivals.period, arrivals.jitter),
        None => (one.distance.min, Time::ZERO),
    };
    if period > Time::LONGEST {
        Some(format!("period of {period}"))
    } else if period + jitter > Time::LONGEST {
        Some(format!("deadline of {}", period + jitter))
    } else {
        None
    }
}

fn write_operation(out: &mut String, name: &str, one: &MeasuredOperation, margin: Margin) {
    let wcet = wcet(one, margin);
    let key = toml::Value::from(name).to_string();
    push(out, format_args!("[operation.{key}]\n"));
    write_comment(
        out,
        &format!(
            "{} jobs: execution up to {}, response up to {}, distance {} to {} (jitter {}).",
            one.execution.count,
            up(one.execution.max),
            up(one.response.max),
            down(one.distance.min),
            up(one.distance.max),
            up(one.jitter()),
        ),
    );
    push(out, format_args!("wcet = \"{wcet}\"\n"));
    let typical = up(one.execution.p50).min(wcet);
    push(out, format_args!("typical = \"{typical}\"\n"));
    write_period(out, one, wcet);
}

fn write_period(out: &mut String, one: &MeasuredOperation, wcet: Time) {
    match one.arrivals {
        Some(arrivals) => write_arrivals(out, arrivals, wcet),
        None => write_distance(out, one, wcet),
    }
}

/// Writes a period and a jitter that hold for bursts of any length.
fn write_arrivals(out: &mut String, arrivals: Arrivals, wcet: Time) {
    let safe = down(arrivals.period.min(Time::LONGEST));
    if safe < wcet {
        write_overload(out, safe);
    }
    let (period, jitter) = (safe.max(wcet), up(arrivals.jitter));
    push(out, format_args!("period = \"{period}\"\n"));
    if !jitter.is_zero() {
        let deadline = up((period + jitter).min(Time::LONGEST));
        push(
            out,
            format_args!("jitter = \"{jitter}\"\ndeadline = \"{deadline}\"\n"),
        );
    }
}

fn write_overload(out: &mut String, mean: Time) {
    let message =
        format!("The mean distance, {mean}, is shorter than `wcet`: one processor cannot do it.");
    write_comment(out, &message);
}

/// Writes a period by the distances of two jobs alone, which does not bound long bursts.
fn write_distance(out: &mut String, one: &MeasuredOperation, wcet: Time) {
    let shortest = down(one.distance.min.min(Time::LONGEST));
    if shortest >= wcet {
        return push(out, format_args!("period = \"{shortest}\"\n"));
    }
    let mean = down(one.distance.mean.min(Time::LONGEST));
    let period = mean.max(wcet);
    match mean >= wcet {
        true => write_comment(
            out,
            "Jobs came in bursts, of which the file does not tell: the period is the mean distance.",
        ),
        false => write_overload(out, mean),
    }
    let jitter = up(period - shortest);
    push(
        out,
        format_args!("period = \"{period}\"\njitter = \"{jitter}\"\n"),
    );
}

// Writing to a string never fails.
fn push(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn write_comment(out: &mut String, text: &str) {
    push(out, format_args!("# {text}\n"));
}

/// Returns the step of four significant digits.
fn step(time: Time) -> u64 {
    10_u64.pow(time.as_nanos().max(1).ilog10().saturating_sub(3))
}

/// Rounds up to four significant digits.
fn up(time: Time) -> Time {
    let step = step(time);
    let nanos = time.as_nanos().div_ceil(step).saturating_mul(step);
    Time::from_nanos(nanos).min(Time::LONGEST)
}

/// Rounds down to four significant digits.
fn down(time: Time) -> Time {
    let step = step(time);
    Time::from_nanos(time.as_nanos() / step * step)
}
