//! JSON, as `punctual call` reads arguments and prints results.

use super::decoder;
use crate::{Outcome, Refusal, Shape};
use punctual::json::{Json, NoNames, from_json_text};
use punctual::{TypeCode, Value};
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    read("numbers", numbers, |text| read_as(&sequences()[0], text)),
    read("arrays in one another", arrays, |text| {
        read_as(&sequences()[1], text)
    }),
    read("values in one another", values, |text| {
        read_as(super::values::nodes(), text)
    }),
    read("text with escapes", escapes, |text| {
        read_as(&TypeCode::STRING, text)
    }),
    printed("numbers", super::text::nothing, |octets| {
        print_as(&sequences()[0], octets)
    }),
    printed("values in one another", super::values::nested, |octets| {
        print_as(super::values::nodes(), octets.get(1..).unwrap_or_default())
    }),
];

/// What somebody types. An element of two characters is 32 octets in serde's tree, which grows twofold, and 48 as a
/// value; a valuetype of 14 is some 250, another 600 in serde's tree, and its place as text.
const fn read(name: &'static str, make: fn(usize) -> Vec<u8>, read: fn(&[u8]) -> Outcome) -> Shape {
    Shape {
        times: 128,
        ..Shape::new("JSON read", name, make, read)
    }
}

/// A result. The name of a member is printed for each value; a valuetype of 12 octets is taken out of its graph by a
/// copy, and noted with its place as text.
const fn printed(
    name: &'static str,
    make: fn(usize) -> Vec<u8>,
    read: fn(&[u8]) -> Outcome,
) -> Shape {
    Shape {
        times: 96,
        ..Shape::new("JSON printed", name, make, read)
    }
}

/// How deep arrays are in one another: serde takes 128.
const DEEP: usize = 60;

/// Sequences of numbers, the second in so many others.
fn sequences() -> &'static [TypeCode; 2] {
    static SEQUENCES: OnceLock<[TypeCode; 2]> = OnceLock::new();
    let sequence = |deep| (0..deep).fold(TypeCode::LONG, |of, _| TypeCode::sequence(&of, 0));
    SEQUENCES.get_or_init(|| [1, DEEP].map(sequence))
}

fn read_as(type_code: &TypeCode, text: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(text);
    let value = from_json_text(type_code, &text, &NoNames);
    value.map(drop).map_err(|error| Refusal::new(0, error))
}

fn print_as(type_code: &TypeCode, octets: &[u8]) -> Outcome {
    let mut input = decoder(octets);
    let value = Value::unmarshal(type_code, &mut input);
    let value = value.map_err(|error| Refusal::new(input.position(), error))?;
    let text = serde_json::to_string(&Json::new(type_code, &value));
    text.map(drop)
        .map_err(|error| Refusal::new(octets.len(), error))
}

fn listed(octets: usize, element: &str) -> Vec<u8> {
    let count = octets / (element.len() + 1) + 1;
    format!("[{}]", vec![element; count].join(",")).into_bytes()
}

fn numbers(octets: usize) -> Vec<u8> {
    listed(octets, "1")
}

fn arrays(octets: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(DEEP - 1), "]".repeat(DEEP - 1));
    listed(octets, &format!("{open}{close}"))
}

fn values(octets: usize) -> Vec<u8> {
    let (open, close) = ("{\"others\":[".repeat(28), "]}".repeat(28));
    listed(octets, &format!("{open}{close}"))
}

fn escapes(octets: usize) -> Vec<u8> {
    format!("\"{}\"", "\\u20ac".repeat(octets / 6)).into_bytes()
}
