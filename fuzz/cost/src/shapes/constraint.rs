//! Texts of constraints, and events that they are evaluated over.

use super::{decoder, shape};
use crate::outcome::Refusal;
use crate::{Outcome, Shape};
use punctual_any::Any;
use punctual_cdr::Unmarshal;
use punctual_constraint::{Constraint, Event, FieldValue, Grammar, Limits, List};
use std::fmt::Write as _;

pub(super) const SHAPES: &[Shape] = &[
    // A program keeps an instruction and a literal of 32 bytes for each number, in lists that grow.
    Shape {
        times: 80,
        ..Shape::new("constraint", "numbers of one digit", sum, compile)
    },
    // A program keeps the path to each field, and a table to find it again while it is written.
    Shape {
        times: 96,
        ..Shape::new("constraint", "fields of short names", fields, compile)
    },
    Shape::new("constraint", "a string", string, compile),
    // The TypeCode of each element is read twice more: to pass the element, and to look at it.
    Shape {
        times: 28,
        ..Shape::new("constraint", "Anys of a large type, compared", anys, find)
    },
];

fn compile(octets: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(octets);
    let limits = Limits {
        length: usize::MAX,
        ..Limits::DEFAULT
    };
    match Constraint::compile(Grammar::ExtendedTcl, &text, &limits) {
        Ok(_) => Ok(()),
        Err(mistake) => Err(Refusal::new(mistake.span().start, mistake)),
    }
}

fn sum(octets: usize) -> Vec<u8> {
    format!("1>1{}", "+1".repeat(octets / 2)).into_bytes()
}

fn fields(octets: usize) -> Vec<u8> {
    let mut text = "1>1".to_owned();
    let mut count = 0u32;
    while text.len() < octets {
        let _ = write!(text, "+$a{count}");
        count += 1;
    }
    text.into_bytes()
}

fn string(octets: usize) -> Vec<u8> {
    format!("'{}'=='x'", "x".repeat(octets)).into_bytes()
}

fn anys(octets: usize) -> Vec<u8> {
    let like = shape("Any", "Anys in a sequence, of a large type");
    like.map(|like| (like.make)(octets)).unwrap_or_default()
}

/// Looks for a number among all elements of a sequence of Anys.
fn find(octets: &[u8]) -> Outcome {
    let input = &mut decoder(octets);
    let event = Any::unmarshal(input).map_err(|error| Refusal::new(input.position(), error))?;
    let limits = Limits {
        steps: u32::MAX,
        ..Limits::DEFAULT
    };
    let constraint = Constraint::compile(Grammar::ExtendedTcl, "1 in $", &limits);
    let constraint = constraint.map_err(|mistake| Refusal::new(0, mistake))?;
    // Whatever the result is.
    let _ = constraint.evaluate(&Sample(event));
    Ok(())
}

/// Event that is a single Any.
struct Sample(Any);

impl Event for Sample {
    fn root(&self) -> Option<&Any> {
        Some(&self.0)
    }

    fn property_count(&self, _: List) -> usize {
        0
    }

    fn property_at(&self, _: List, _: usize) -> Option<(&str, FieldValue<'_>)> {
        None
    }
}
