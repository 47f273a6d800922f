//! Fuzz target for constraints of the Notification and Trading services, and the events that they
//! are evaluated over.
//!
//! An input is a text, a NUL, and the encoding of an Any.

use punctual_any::Any;
use punctual_cdr::{ByteOrder, Coding, Decoder, Unmarshal};
use punctual_constraint::{
    Constraint, ConstraintSet, Event, Failure, FieldValue, Grammar, Limits, List,
};

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let (text, value) = parts(octets);
    let grammar = match how & 1 {
        0 => Grammar::ExtendedTcl,
        _ => Grammar::Tcl,
    };
    let text = String::from_utf8_lossy(text);
    match Constraint::compile(grammar, &text, &Limits::DEFAULT) {
        Ok(constraint) => evaluate(&constraint, &events(value)),
        Err(mistake) => {
            assert!(mistake.span().end <= text.len(), "{mistake}");
            assert!(mistake.render(how & 2 == 0).contains(mistake.message()));
        }
    }
}

/// Returns the text of an input, and what follows it.
fn parts(octets: &[u8]) -> (&[u8], &[u8]) {
    match octets.iter().position(|octet| *octet == 0) {
        Some(at) => (&octets[..at], &octets[at + 1..]),
        None => (octets, &[]),
    }
}

/// Returns events with the Any of an input: itself, and structured ones with it as property, as it is and where it is encoded.
fn events(value: &[u8]) -> Vec<Sample> {
    let mut input = Decoder::new(value, ByteOrder::Big, Coding::default());
    let value = Any::unmarshal(&mut input).unwrap_or_default();
    let outer = Any::new(&value).ok();
    let sample = |is_structured, outer| Sample {
        is_structured,
        value: value.clone(),
        outer,
    };
    let mut events = vec![sample(false, None), sample(true, None)];
    events.extend(outer.map(|outer| sample(true, Some(outer))));
    events
}

/// Checks that a constraint gives the same after it was shown and compiled again, that its keys
/// hold wherever it is true, and that a set finds it then.
fn evaluate(constraint: &Constraint, events: &[Sample]) {
    let shown = constraint.to_string();
    let limits = Limits {
        length: usize::MAX,
        depth: usize::MAX,
        ..Limits::DEFAULT
    };
    let again = Constraint::compile(Grammar::ExtendedTcl, &shown, &limits);
    let again = again.expect("what is shown is compiled");
    assert_eq!(again.to_string(), shown);
    let mut set = ConstraintSet::new();
    set.insert(constraint.clone(), ());
    let mut of_structured = None;
    for event in events {
        let result = constraint.evaluate(event);
        // What is encoded takes more steps.
        if event.is_structured && result != Err(Failure::Steps) {
            let verdict = result.clone().ok();
            assert_eq!(*of_structured.get_or_insert(verdict), verdict, "{shown}");
        }
        assert_eq!(again.evaluate(event), result, "{shown}");
        let mut is_found = false;
        set.for_each_match(event, |_, ()| is_found = true);
        assert_eq!(is_found, result == Ok(true), "{shown}");
    }
}

/// Event with one value.
struct Sample {
    is_structured: bool,
    value: Any,
    /// Any in whose encoding the value stands, for events that are encoded.
    outer: Option<Any>,
}

impl Sample {
    fn field(&self) -> FieldValue<'_> {
        match &self.outer {
            Some(outer) => FieldValue::Within(outer, 0),
            None => FieldValue::Any(&self.value),
        }
    }
}

impl Event for Sample {
    fn root(&self) -> Option<&Any> {
        (!self.is_structured).then_some(&self.value)
    }

    fn domain_name(&self) -> &str {
        "Domain"
    }

    fn type_name(&self) -> &str {
        "Type"
    }

    fn property_count(&self, list: List) -> usize {
        match list {
            List::VariableHeader => 0,
            List::FilterableData => 1,
        }
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let is_there = (list, index) == (List::FilterableData, 0);
        is_there.then_some(("a", self.field()))
    }

    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        Some(self.field())
    }

    fn current_time(&self) -> Option<u64> {
        Some(1)
    }
}
