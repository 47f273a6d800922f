//! Printing of decoded messages, as additional lines of the log or as JSON.

use std::collections::HashSet;
use std::rc::Rc;

use punctual::{Any, SystemException};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::calls::{Contents, DecodedMessage, Reason};
use super::log::NoBody;
use super::values::{Fit, Named};
use crate::payload::{self, Members};
use crate::shown;

/// Maximum number of undeclared operations that are reported, once each.
const MOST_UNKNOWN: usize = 1000;

/// Problem of the whole log, reported once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LogProblem {
    NoOctets,
    NoMessages,
    Foreign,
}

impl LogProblem {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::NoOctets => "no octets in this log: run the program with -ORBTrace giop,payload",
            Self::NoMessages => {
                "no messages in this log: run the program with -ORBTrace giop,payload, and read its standard error"
            }
            Self::Foreign => "messages of other protocols than GIOP are passed on without values",
        }
    }
}

/// Output as text lines, in the format of `punctual call -ORBTrace payload`.
#[derive(Debug, Default)]
pub(super) struct Text {
    unknown: HashSet<Rc<str>>,
}

impl Text {
    pub(super) fn lines(&mut self, told: &DecodedMessage) -> Vec<String> {
        let way = if told.sent { "->" } else { "<-" };
        let named = told.operation.as_deref().map(str::to_owned);
        let operation = named.unwrap_or_else(|| format!("request {}", told.id));
        match &told.says {
            Contents::Values(fits) => of_fits(way, &operation, fits),
            Contents::User(exception) => {
                vec![payload::line(way, &operation, "$exception", exception)]
            }
            Contents::System(exception) => vec![payload::exception(way, &operation, exception)],
            Contents::Elsewhere(_) => Vec::new(),
            Contents::Nothing(reason) => {
                let is_told = match (reason, &told.operation) {
                    // Reported once for the whole log.
                    (Reason::NoBody(NoBody::NotShown), _) => true,
                    (Reason::NotDeclared, Some(name)) => !self.is_new(name),
                    _ => false,
                };
                match is_told {
                    true => Vec::new(),
                    false => {
                        let (operation, why) =
                            (shown::peer(operation), shown::exception(why(reason)));
                        vec![format!("payload {way} {operation}: {why}")]
                    }
                }
            }
        }
    }

    fn is_new(&mut self, name: &Rc<str>) -> bool {
        self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(name.clone())
    }
}

/// Returns the lines of the values. If several operations fit, each set of equal values is headed
/// by the names of its operations.
fn of_fits(way: &str, operation: &str, fits: &[Fit]) -> Vec<String> {
    let lines = |operation: &str, values: &[Named]| -> Vec<String> {
        let values = values.iter();
        values
            .map(|(name, value)| payload::line(way, operation, name, value))
            .collect()
    };
    if let [only] = fits {
        return lines(operation, &only.values);
    }
    let mut alike: Vec<(Vec<String>, Vec<&str>, &Fit)> = Vec::new();
    for fit in fits {
        let (text, interface) = (lines(operation, &fit.values), &*fit.candidate.interface);
        match alike.iter_mut().find(|(other, ..)| *other == text) {
            Some((_, interfaces, _)) => interfaces.push(interface),
            None => alike.push((text, vec![interface], fit)),
        }
    }
    let of_group = |(_, interfaces, fit): (Vec<String>, Vec<&str>, &Fit)| {
        let operation = format!("{operation} ({})", interfaces.join(" or "));
        lines(&operation, &fit.values)
    };
    alike.into_iter().flat_map(of_group).collect()
}

/// Returns the reason for which a message has no decoded values.
fn why(reason: &Reason) -> String {
    match reason {
        Reason::NoBody(NoBody::NotShown) => "the log does not show its octets",
        Reason::NoBody(NoBody::NotWhole) => "the program showed a part of its octets only",
        Reason::NoBody(NoBody::Damaged) => "its octets in the log are incomplete or damaged",
        Reason::NoBody(NoBody::TooLong) => "it has more octets than are decoded here",
        Reason::NotDeclared => "no operation of this name is declared",
        Reason::NoFit(reason) => {
            return format!("the bytes do not match the declared types: {reason}");
        }
        Reason::NoRequest => "the log does not hold the request that this replies to",
        Reason::Fragment => "a fragment whose message cannot be put together from this log",
    }
    .to_owned()
}

/// A message as one JSON object.
#[derive(Serialize)]
struct Line<'t> {
    direction: &'static str,
    peer: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<u32>,
    message: &'static str,
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'t str>,
    #[serde(flatten)]
    says: Content<'t>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Content<'t> {
    /// Decoded values by each of the operations whose parameters fit the bytes.
    Candidates(Vec<Values<'t>>),
    Exception(Box<RawValue>),
    Status(String),
    Error(String),
    #[serde(untagged)]
    Values(Values<'t>),
}

#[derive(Serialize)]
struct Values<'t> {
    interface: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    arguments: Box<RawValue>,
}

/// Returns a message as JSON, on one line.
pub(super) fn json(told: &DecodedMessage) -> Result<String, serde_json::Error> {
    let says = match &told.says {
        Contents::Values(fits) => {
            let values: Result<Vec<_>, _> = fits.iter().map(json_of_fit).collect();
            let mut values = values?;
            match values.len() {
                1 => Content::Values(values.remove(0)),
                _ => Content::Candidates(values),
            }
        }
        Contents::User(exception) => Content::Exception(user(exception)?),
        Contents::System(exception) => Content::Exception(system(exception)?),
        Contents::Elsewhere(status) => Content::Status(format!("{status:?}")),
        Contents::Nothing(reason) => Content::Error(why(reason)),
    };
    serde_json::to_string(&Line {
        direction: if told.sent { "sent" } else { "received" },
        peer: &told.peer.address,
        socket: told.peer.socket,
        message: if told.is_reply { "reply" } else { "request" },
        id: told.id,
        operation: told.operation.as_deref(),
        says,
    })
}

fn json_of_fit(fit: &Fit) -> Result<Values<'_>, serde_json::Error> {
    let (mut result, mut arguments) = (None, Vec::new());
    for (name, value) in &fit.values {
        let value = raw(value)?;
        match name.as_str() {
            "$result" => result = Some(value),
            name => arguments.push((name, value)),
        }
    }
    Ok(Values {
        interface: &fit.candidate.interface,
        result,
        arguments: to_raw_value(&Members(&arguments))?,
    })
}

/// Returns a value as JSON, or a text with its error.
fn raw(value: &Any) -> Result<Box<RawValue>, serde_json::Error> {
    payload::json(value).or_else(|wrong| to_raw_value(&wrong))
}

/// Returns a user exception as `punctual call` prints it.
fn user(exception: &Any) -> Result<Box<RawValue>, serde_json::Error> {
    let type_code = exception.type_code();
    let members = [
        ("exception", to_raw_value(&type_code.to_string())?),
        ("id", to_raw_value(type_code.id().unwrap_or_default())?),
        ("members", raw(exception)?),
    ];
    to_raw_value(&Members(&members))
}

fn system(exception: &SystemException) -> Result<Box<RawValue>, serde_json::Error> {
    let members = [
        ("exception", to_raw_value(exception.kind().name())?),
        ("id", to_raw_value(exception.kind().repository_id())?),
        ("minor", to_raw_value(&exception.minor())?),
        (
            "completed",
            to_raw_value(&exception.completed().to_string())?,
        ),
    ];
    to_raw_value(&Members(&members))
}
