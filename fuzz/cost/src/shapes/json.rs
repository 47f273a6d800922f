//! JSON, as `punctual call` reads arguments and prints results.

use super::decoder;
use crate::{End, Outcome, Refusal, Shape};
use punctual::TypeCode;
use punctual::any::{Label, Value, ValueModifier, Visibility};
use punctual::json::{Json, Names, NoNames, any_from_json_text, from_json_text};
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    read("numbers", numbers, |text| read_as(&types().numbers, text)),
    read("long doubles", numbers, |text| {
        read_as(&types().long_doubles, text)
    }),
    read("fixed-point numbers", numbers, |text| {
        read_as(&types().fixed, text)
    }),
    read("arrays in one another", arrays, |text| {
        read_as(&types().arrays, text)
    }),
    read("members in reverse order", reversed, |text| {
        read_as(&types().structs, text)
    }),
    read("structs without members that are given", empty, |text| {
        read_as(&types().optional, text)
    }),
    read("unions in one another", unions, |text| {
        read_as(&types().unions, text)
    }),
    read("members that are unknown", unknown, |text| {
        read_as(&types().structs, text)
    })
    .refused(End::Refused {
        why: "`[0].x0`: unknown member",
        at: |_| 0,
    }),
    read("entries of a map", entries, |text| {
        read_as(&types().map, text)
    }),
    read("entries of a map with one key", one_key, |text| {
        read_as(&types().map, text)
    }),
    read("Anys", numbers, |text| read_as(&types().anys, text)),
    read("Anys in one another", anys, |text| {
        read_as(&types().anys, text)
    }),
    read("names of types", names, |text| {
        read_as(&types().type_codes, text)
    }),
    read("names of types, each another", other_names, |text| {
        read_as(&types().type_codes, text)
    }),
    read("names of sequences in one another", towers, |text| {
        read_as(&types().type_codes, text)
    }),
    read("text with escapes", escapes, |text| {
        read_as(&TypeCode::STRING, text)
    }),
    read("text without quotes", plain, |text| {
        read_as(&TypeCode::STRING, text)
    }),
    read("a character of ISO 8859-1 behind numbers", latin, |text| {
        read_as(&types().latin, text)
    }),
    read("values in one another", values, |text| {
        read_as(super::values::nodes(), text)
    }),
    read("references to one value", references, |text| {
        read_as(super::values::nodes(), text)
    }),
    read("references to each value", all_references, |text| {
        read_as(super::values::nodes(), text)
    }),
    read("values without state", empty, |text| {
        read_as(&types().stateless, text)
    }),
    read("boxed numbers", numbers, |text| {
        read_as(&types().boxed, text)
    }),
    read("Anys in values in one another", anys_in_values, |text| {
        read_as(&types().anys, text)
    }),
    taken_apart("numbers", numbers, |text| value_of(&types().numbers, text)),
    taken_apart("arrays in one another", arrays, |text| {
        value_of(&types().arrays, text)
    }),
    taken_apart("Anys", numbers, |text| value_of(&types().anys, text)),
    taken_apart("values in one another", values, |text| {
        value_of(super::values::nodes(), text)
    }),
    // Two or three bytes are an object of some 150 that can be shared.
    Shape {
        times: 64,
        ..taken_apart("values without state", empty, |text| {
            value_of(&types().stateless, text)
        })
    },
    Shape {
        times: 112,
        ..taken_apart("boxed numbers", numbers, |text| {
            value_of(&types().boxed, text)
        })
    },
    printed("numbers", super::text::nothing, |octets| {
        print_as(&types().numbers, octets)
    }),
    printed("structs", super::text::nothing, |octets| {
        print_as(&types().shorts, octets)
    }),
    printed("Anys", null_anys, |octets| print_as(&types().anys, octets)),
    // Most of the allocation is for reading the values.
    Shape {
        times: 28,
        ..printed("values in one another", super::values::nested, |octets| {
            print_as(super::values::nodes(), octets.get(1..).unwrap_or_default())
        })
    },
    printed("values that point at the first", again, |octets| {
        print_as(super::values::nodes(), octets)
    }),
];

/// Makes a shape of JSON arguments with known types, which are marshaled directly, except
/// valuetypes.
const fn read(name: &'static str, make: fn(usize) -> Vec<u8>, read: fn(&[u8]) -> Outcome) -> Shape {
    Shape::new("JSON read", name, make, read)
}

/// Makes a shape of JSON arguments with known types that are first converted to values.
const fn taken_apart(
    name: &'static str,
    make: fn(usize) -> Vec<u8>,
    read: fn(&[u8]) -> Outcome,
) -> Shape {
    Shape::new("JSON taken apart", name, make, read)
}

/// Makes a shape of a result that is printed as JSON. The output may be several times as long as
/// the input: it names the types and members of each value.
const fn printed(
    name: &'static str,
    make: fn(usize) -> Vec<u8>,
    read: fn(&[u8]) -> Outcome,
) -> Shape {
    Shape::new("JSON printed", name, make, read)
}

/// Depth of nested arrays: the limit for values read from CDR.
const DEEP: usize = 60;

/// Depth of nested objects that each hold an array: serde allows a total of 128. An object is
/// skipped once to find its members, and each nested object again.
const DEEPEST: usize = 63;

struct Types {
    numbers: TypeCode,
    long_doubles: TypeCode,
    fixed: TypeCode,
    arrays: TypeCode,
    structs: TypeCode,
    shorts: TypeCode,
    optional: TypeCode,
    unions: TypeCode,
    map: TypeCode,
    anys: TypeCode,
    type_codes: TypeCode,
    latin: TypeCode,
    stateless: TypeCode,
    boxed: TypeCode,
}

fn sequence(of: &TypeCode) -> TypeCode {
    TypeCode::sequence(of, 0)
}

const MEMBERS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| {
        let members = MEMBERS.map(|name| (name, TypeCode::SHORT));
        let optional = TypeCode::union_(
            "",
            "",
            &TypeCode::BOOLEAN,
            &[(Label::Value(1), "value", TypeCode::LONG)],
        );
        let pair = [("key", TypeCode::STRING), ("value", TypeCode::SHORT)];
        let union = sequence(&TypeCode::recursive("IDL:c/U:1.0"));
        let union = TypeCode::union_(
            "IDL:c/U:1.0",
            "U",
            &TypeCode::LONG,
            &[(Label::Value(1), "u", union)],
        );
        let latin = [
            ("numbers", sequence(&TypeCode::LONG_DOUBLE)),
            ("character", TypeCode::CHAR),
        ];
        let stateless = TypeCode::value("IDL:c/E:1.0", "E", ValueModifier::None, None, &[]);
        let boxed = TypeCode::value_box("IDL:c/B:1.0", "B", &TypeCode::SHORT);
        Types {
            numbers: sequence(&TypeCode::LONG),
            long_doubles: sequence(&TypeCode::LONG_DOUBLE),
            fixed: sequence(&TypeCode::fixed(31, 0)),
            arrays: (0..DEEP).fold(TypeCode::LONG, |of, _| sequence(&of)),
            structs: sequence(&TypeCode::structure("IDL:c/S:1.0", "S", &members)),
            shorts: sequence(&TypeCode::structure(
                "IDL:c/T:1.0",
                "T",
                &[("a", TypeCode::LONG)],
            )),
            optional: sequence(&TypeCode::structure(
                "IDL:c/O:1.0",
                "O",
                &[("optional", optional)],
            )),
            unions: sequence(&union),
            map: sequence(&TypeCode::structure("", "", &pair)),
            anys: sequence(&TypeCode::ANY),
            type_codes: sequence(&TypeCode::TYPE_CODE),
            latin: TypeCode::structure("IDL:c/L:1.0", "L", &latin),
            stateless: sequence(&stateless),
            boxed: sequence(&boxed),
        }
    })
}

/// Returns the type of a valuetype that holds an Any.
fn holder() -> &'static TypeCode {
    static HOLDER: OnceLock<TypeCode> = OnceLock::new();
    HOLDER.get_or_init(|| {
        TypeCode::value(
            "IDL:c/Holder:1.0",
            "Holder",
            ValueModifier::None,
            None,
            &[("any", TypeCode::ANY, Visibility::Public)],
        )
    })
}

struct Known;

impl Names for Known {
    fn type_code(&self, name: &str) -> Option<TypeCode> {
        (name == "Holder").then(|| holder().clone())
    }
}

fn read_as(type_code: &TypeCode, text: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(text);
    let any = any_from_json_text(type_code, &text, &Known);
    any.map(drop).map_err(|error| Refusal::new(0, error))
}

fn value_of(type_code: &TypeCode, text: &[u8]) -> Outcome {
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

/// Writes a JSON list of the given first element and further elements, up to the given length.
fn listed_behind(first: &str, octets: usize, element: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = format!("[{first}");
    for at in 0.. {
        if text.len() >= octets {
            break;
        }
        text += ",";
        text += &element(at);
    }
    (text + "]").into_bytes()
}

/// Writes `times` nested pairs of an opening and a closing text.
fn within(times: usize, begin: &str, end: &str) -> String {
    begin.repeat(times) + &end.repeat(times)
}

fn numbers(octets: usize) -> Vec<u8> {
    listed(octets, "1")
}

fn arrays(octets: usize) -> Vec<u8> {
    listed(octets, &within(DEEP - 1, "[", "]"))
}

fn empty(octets: usize) -> Vec<u8> {
    listed(octets, "{}")
}

fn reversed(octets: usize) -> Vec<u8> {
    let members = MEMBERS.iter().rev();
    let members: Vec<_> = members.map(|name| format!("\"{name}\":1")).collect();
    listed(octets, &format!("{{{}}}", members.join(",")))
}

fn unions(octets: usize) -> Vec<u8> {
    listed(octets, &within(DEEPEST, "{\"u\":[", "]}"))
}

fn unknown(octets: usize) -> Vec<u8> {
    let members: Vec<_> = (0..octets / 9).map(|at| format!("\"x{at}\":1")).collect();
    format!("[{{{}}}]", members.join(",")).into_bytes()
}

fn entries(octets: usize) -> Vec<u8> {
    let entries: Vec<_> = (0..octets / 9)
        .map(|at| format!("\"{:x}\":1", at * 257))
        .collect();
    format!("{{{}}}", entries.join(",")).into_bytes()
}

fn one_key(octets: usize) -> Vec<u8> {
    format!("{{{}}}", vec!["\"\":1"; octets / 5 + 1].join(",")).into_bytes()
}

fn anys(octets: usize) -> Vec<u8> {
    listed(
        octets,
        &within(28, "{\"type\":\"any\",\"value\":", "}").replace(":}", ":1}"),
    )
}

fn anys_in_values(octets: usize) -> Vec<u8> {
    let any = within(28, "{\"type\":\"Holder\",\"value\":{\"any\":", "}}");
    listed(octets, &any.replace(":}", ":1}"))
}

fn names(octets: usize) -> Vec<u8> {
    listed(octets, "\"long\"")
}

fn other_names(octets: usize) -> Vec<u8> {
    listed_behind("\"long\"", octets, |at| format!("\"string<{}>\"", at + 1))
}

fn towers(octets: usize) -> Vec<u8> {
    listed_behind("\"long\"", octets, |at| {
        let (begin, end) = ("sequence<".repeat(30), ">".repeat(30));
        format!("\"{begin}string<{}>{end}\"", at + 1)
    })
}

/// Encodes a sequence of Anys of type null.
fn null_anys(octets: usize) -> Vec<u8> {
    super::text::nothing(octets)
}

/// Writes a value without members, followed by indirections to it.
fn again(octets: usize) -> Vec<u8> {
    super::written(|out| {
        out.put_u32(super::number(octets / 8));
        out.put_u32(0x7fff_ff00);
        out.put_u32(0);
        (1..octets / 8).for_each(|_| super::type_code::indirection(out, 4));
        Ok(())
    })
}

fn escapes(octets: usize) -> Vec<u8> {
    format!("\"{}\"", "\\u20ac".repeat(octets / 6)).into_bytes()
}

fn plain(octets: usize) -> Vec<u8> {
    "\u{1}".repeat(octets).into_bytes()
}

fn latin(octets: usize) -> Vec<u8> {
    let numbers = String::from_utf8(numbers(octets)).unwrap_or_default();
    format!("{{\"numbers\":{numbers},\"character\":\"\\u00e9\"}}").into_bytes()
}

fn values(octets: usize) -> Vec<u8> {
    listed(octets, &within(28, "{\"others\":[", "]}"))
}

fn references(octets: usize) -> Vec<u8> {
    listed_behind("{\"others\":[]}", octets, |_| {
        "{\"$ref\":\"[0]\"}".to_owned()
    })
}

/// Writes values that alternate with references to the preceding value.
fn all_references(octets: usize) -> Vec<u8> {
    listed_behind("null", octets, |at| {
        format!("{{\"others\":[]}},{{\"$ref\":\"[{}]\"}}", at * 2 + 1)
    })
}
