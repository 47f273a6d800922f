//! W3C trace context: `traceparent` and `tracestate` (W3C Trace Context, level 1).

use super::ids;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Trace context of a span, as propagated to the called server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: u128,
    span_id: u64,
    flags: u8,
    state: Option<Arc<str>>,
}

/// Error for a text that is not a `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no traceparent: {0}")]
pub struct BadTraceParent(
    /// Description of the fault in the text of the `traceparent`.
    pub &'static str,
);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for BadTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Length of a `traceparent` of version 00, in bytes.
const LENGTH: usize = 55;
/// Length in bytes up to which a `tracestate` must be propagated (§3.3.1.5).
const MOST_STATE: usize = 512;
/// Maximum number of members of a `tracestate` (§3.3.1.1).
const MOST_MEMBERS: usize = 32;
/// Flag of `traceparent` that marks a trace as recorded (§3.2.2.5.1).
const SAMPLED: u8 = 1;

impl TraceContext {
    /// Makes the context of the root span of a new trace.
    #[must_use]
    pub fn root(is_sampled: bool) -> Self {
        Self {
            trace_id: u128::from(ids::number()) << 64 | u128::from(ids::number()),
            span_id: ids::number(),
            flags: if is_sampled { SAMPLED } else { 0 },
            state: None,
        }
    }

    /// Returns the context of a span that another tracing library has begun; `None` if the ids are
    /// invalid.
    #[cfg(feature = "opentelemetry")]
    pub(super) fn of_span(trace_id: u128, span_id: u64, flags: u8) -> Option<Self> {
        (trace_id != 0 && span_id != 0).then_some(Self {
            trace_id,
            span_id,
            flags,
            state: None,
        })
    }

    /// Returns the trace flags in the format of `traceparent`.
    #[cfg(feature = "opentelemetry")]
    pub(super) fn flags(&self) -> u8 {
        self.flags
    }

    /// Makes the context of a new span in the same trace.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            span_id: ids::number(),
            ..self.clone()
        }
    }

    /// Adds the vendors' state; ignores a text that is not a valid `tracestate` (§3.3.1).
    #[must_use]
    pub fn with_state(self, state: &str) -> Self {
        let state = state.trim();
        let state = (is_state(state) && !state.is_empty()).then(|| state.into());
        Self { state, ..self }
    }

    /// Returns the id of the trace.
    #[must_use]
    pub fn trace_id(&self) -> u128 {
        self.trace_id
    }

    /// Returns the id of the span.
    #[must_use]
    pub fn span_id(&self) -> u64 {
        self.span_id
    }

    /// Returns whether the trace is recorded (flag `sampled`).
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the vendors' state; empty if there is none.
    #[must_use]
    pub fn state(&self) -> &str {
        self.state.as_deref().unwrap_or_default()
    }
}

/// Writes the context as a `traceparent`, in version 00.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            span_id,
            flags,
            ..
        } = self;
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

/// Reads a `traceparent`, of this version or a later one (§3.2 and §4.3).
impl FromStr for TraceContext {
    type Err = BadTraceParent;

    fn from_str(text: &str) -> Result<Self, BadTraceParent> {
        let octets = text.as_bytes();
        let field = |from: usize, length: usize| -> Result<u128, BadTraceParent> {
            let field = octets.get(from..from + length);
            hex(field.ok_or(BadTraceParent("it is too short"))?)
        };
        let version = field(0, 2)?;
        let (trace_id, span_id, flags) = (field(3, 32)?, field(36, 16)?, field(53, 2)?);
        let is_dash = |at: usize| octets.get(at) == Some(&b'-');
        match (version, octets.len()) {
            (0xff, _) => return Err(BadTraceParent("its version is ff")),
            (0, LENGTH) => {}
            (0, _) => return Err(BadTraceParent("it is too long")),
            // The known part of a later version is read, if it ends there.
            (_, LENGTH) => {}
            _ if is_dash(LENGTH) => {}
            _ => return Err(BadTraceParent("its flags are too long")),
        }
        if ![2, 35, 52].into_iter().all(is_dash) {
            return Err(BadTraceParent("a dash is missing"));
        }
        if trace_id == 0 || span_id == 0 {
            return Err(BadTraceParent("an id is zero"));
        }
        Ok(Self {
            trace_id,
            // The numbers fit into their fields.
            span_id: span_id as u64,
            flags: flags as u8,
            state: None,
        })
    }
}

/// Parses lower-case hexadecimal digits; any other character is an error.
fn hex(digits: &[u8]) -> Result<u128, BadTraceParent> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err(BadTraceParent("a digit is not one of 0-9 and a-f")),
        };
        Ok(number << 4 | u128::from(digit))
    })
}

/// Returns whether the text is a valid list of `key=value` members (§3.3.1.2, §3.3.1.3).
fn is_state(state: &str) -> bool {
    let members = state.split(',').map(str::trim);
    let mut members = members.filter(|member| !member.is_empty());
    state.len() <= MOST_STATE
        && members.clone().count() <= MOST_MEMBERS
        && members.all(|member| {
            member.split_once('=').is_some_and(|(key, value)| {
                let is_key = |one: u8| matches!(one, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
                let is_value = |one: u8| matches!(one, b' '..=b'~') && one != b'=' && one != b',';
                !key.is_empty()
                    && key.len() <= 256
                    && key.bytes().all(is_key)
                    && value.len() <= 256
                    && value.bytes().all(is_value)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_traceparent_is_read_and_written_as_the_w3c_has_it() {
        let context: TraceContext = PARENT.parse().unwrap();
        assert_eq!(
            context.trace_id(),
            0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c
        );
        assert_eq!(context.span_id(), 0xb7ad_6b71_6920_3331);
        assert!(context.is_sampled());
        assert_eq!(context.to_string(), PARENT);
        let child = context.child();
        assert_eq!(child.trace_id(), context.trace_id());
        assert_ne!(child.span_id(), context.span_id());
        assert!(!TraceContext::root(false).is_sampled());
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = PARENT.replace("00-0a", "cc-0a");
        let context: TraceContext = later.parse().unwrap();
        assert_eq!(context.to_string(), PARENT);
        let more: TraceContext = format!("{later}-what-the-future-holds").parse().unwrap();
        assert_eq!(more, context);
        assert!(format!("{later}.what").parse::<TraceContext>().is_err());
    }

    #[test]
    fn what_is_no_traceparent_is_refused() {
        let zeros = "0".repeat(32);
        for bad in [
            String::new(),
            PARENT[..54].to_owned(),
            format!("{PARENT}-"),
            PARENT.to_uppercase(),
            PARENT.replace("00-", "ff-"),
            PARENT.replace('-', "_"),
            PARENT.replace("0af7651916cd43dd8448eb211c80319c", &zeros),
            PARENT.replace("b7ad6b7169203331", &zeros[..16]),
            PARENT.replace("b7ad", "b7ag"),
            PARENT.replace("b7ad6b7169203331", "b7ad6b716920333é"),
        ] {
            assert!(bad.parse::<TraceContext>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tracestate_is_kept_as_it_is_or_left_out() {
        let context: TraceContext = PARENT.parse().unwrap();
        for good in [
            "rojo=00f067aa0ba902b7",
            "a=1,b=2",
            "t1@vendor=x y",
            "a=1,,b=2",
        ] {
            assert_eq!(context.clone().with_state(good).state(), good);
        }
        let many = vec!["a=1"; 33].join(",");
        let long = format!("a={}", "x".repeat(600));
        for bad in [
            "",
            "no equals",
            "A=1",
            "a=\u{e9}",
            "=1",
            "a=b=c",
            &many,
            &long,
        ] {
            assert_eq!(context.clone().with_state(bad).state(), "", "{bad}");
        }
    }
}
