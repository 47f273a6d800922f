//! IDL files.

use crate::Shape;
use punctual_idl::{InMemory, Options, compile_source};

pub(super) const SHAPES: &[Shape] = &[
    shape("macros that grow by one another", macros),
    shape("parentheses", parentheses),
    shape("members", members),
    shape("modules in one another", modules),
    shape("errors", errors),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        decoder: "IDL",
        name,
        make,
        read,
        // A compiler's input is no peer's. What a macro may grow to is bounded; formatted Rust takes its memory.
        times: 8192,
        beside: 64 << 20,
    }
}

fn read(octets: &[u8]) {
    let compiled = compile_source("a.idl", octets, &Options::default(), &InMemory::new());
    if let Ok(compiled) = compiled {
        let options = punctual_idl_rust::Options::default();
        let _ = punctual_idl_rust::generate(&compiled.specification, &options);
    }
}

fn macros(octets: usize) -> Vec<u8> {
    let mut all = String::from("#define a0 1\n");
    for number in 1..octets / 24 + 1 {
        let before = number - 1;
        all += &format!("#define a{number} a{before} a{before}\n");
    }
    all += &format!("const long c = a{};\n", octets / 24);
    all.into_bytes()
}

fn parentheses(octets: usize) -> Vec<u8> {
    let many = octets / 2;
    format!("const long c = {}1{};", "(".repeat(many), ")".repeat(many)).into_bytes()
}

fn members(octets: usize) -> Vec<u8> {
    let members: String = (0..octets / 12 + 1)
        .map(|at| format!("long m{at};\n"))
        .collect();
    format!("struct S {{ {members} }};").into_bytes()
}

fn modules(octets: usize) -> Vec<u8> {
    let many = octets / 14;
    let mut all = "module m { ".repeat(many);
    all += "const long c = 1; ";
    all += &"};".repeat(many);
    all.into_bytes()
}

fn errors(octets: usize) -> Vec<u8> {
    "x y;".repeat(octets / 4).into_bytes()
}
