//! IDL files.

use crate::{End, Outcome, Refusal, Shape};
use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::Specification;
use punctual_idl::{InMemory, Options, compile_source};

pub(super) const SHAPES: &[Shape] = &[
    // The limit on their growth is independent of the input's length.
    Shape {
        beside: 64 << 20,
        ..shape("macros that grow by one another", macros).refused(End::Refused {
            why: "macros expand to more than 1000000 tokens",
            at: |received| received - "a000001;\n".len(),
        })
    },
    shape("parentheses", parentheses),
    shape("too many parentheses", too_many_parentheses).refused(End::Refused {
        why: "nested more than 200 levels deep",
        at: |_| 215,
    }),
    shape("members", members),
    shape("modules in one another", modules),
    shape("errors", errors).refused(End::Refused {
        why: "giving up after 50 errors",
        at: |_| 49 * "x y;".len(),
    }),
    generated("members", members),
    generated("modules in one another", modules),
];

/// Makes a shape of IDL. Its bound is large, as IDL does not come from a peer: the compiler keeps a
/// file's tokens, syntax tree and names until it has finished, and names declared in nested modules
/// are long.
const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        times: 640,
        ..Shape::new("IDL", name, make, |octets| read(octets).map(drop))
    }
}

/// Makes a shape of the Rust generated from IDL. Its bound is large: a line of IDL becomes about
/// fourteen lines, which are then parsed and formatted.
const fn generated(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        times: 4096,
        beside: 64 << 20,
        ..Shape::new("IDL to Rust", name, make, generate)
    }
}

fn read(octets: &[u8]) -> Result<Specification, Refusal> {
    let compiled = compile_source("a.idl", octets, &Options::default(), &InMemory::new());
    let compiled = compiled.map_err(|failure| last(&failure.diagnostics))?;
    Ok(compiled.specification)
}

fn generate(octets: &[u8]) -> Outcome {
    let options = punctual_idl_rust::Options::default();
    let generated = punctual_idl_rust::generate(&read(octets)?, &options);
    generated.map(drop).map_err(|errors| last(&errors))
}

/// Returns the last error by its position in the file; the compiler continues after an error.
fn last(errors: &[Diagnostic]) -> Refusal {
    let places = errors.iter().filter_map(|error| error.primary.as_ref());
    let at = places.map(|place| place.span.start).max();
    let why = errors.last().map_or("", |error| error.message.as_str());
    Refusal::new(at.unwrap_or_default(), why)
}

fn macros(octets: usize) -> Vec<u8> {
    let last = octets / 32 + 30;
    let mut all = String::from("#define a000000 1\n");
    for number in 1..=last {
        let before = number - 1;
        all += &format!("#define a{number:06} a{before:06} a{before:06}\n");
    }
    all += &format!("const long c = a{last:06};\n");
    all.into_bytes()
}

fn parentheses(octets: usize) -> Vec<u8> {
    let constants = (0..octets / 340 + 1).map(|at| {
        let (open, close) = ("(".repeat(160), ")".repeat(160));
        format!("const long c{at} = {open}1{close};\n")
    });
    constants.collect::<String>().into_bytes()
}

fn too_many_parentheses(octets: usize) -> Vec<u8> {
    let many = octets / 2 + 200;
    format!("const long c = {}1{};", "(".repeat(many), ")".repeat(many)).into_bytes()
}

fn members(octets: usize) -> Vec<u8> {
    let members: String = (0..octets / 12 + 1)
        .map(|at| format!("long m{at};\n"))
        .collect();
    format!("struct S {{ {members} }};").into_bytes()
}

fn modules(octets: usize) -> Vec<u8> {
    let towers = (0..octets / 2400 + 1).map(|tower| {
        let names = (0..150).map(|at| format!("module m{tower}_{at} {{ "));
        let open: String = names.collect();
        format!("{open}const long c = 1; {}\n", "};".repeat(150))
    });
    towers.collect::<String>().into_bytes()
}

fn errors(octets: usize) -> Vec<u8> {
    "x y;".repeat(octets / 4).into_bytes()
}
