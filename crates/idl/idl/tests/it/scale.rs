//! Tests that the cost of large files is in proportion to their size.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use punctual_idl::{InMemory, Options, compile_source};

/// Makes an interface with `count` operations, which refer to types around and before it.
fn operations(count: usize) -> String {
    let mut text =
        String::from("module M { struct S { long x; }; exception E {};\ninterface I {\n");
    for n in 0..count {
        let _ = writeln!(
            text,
            "  S operation_{n}(in S first, out long second) raises (E);"
        );
    }
    text + "}; };\n"
}

/// Makes interfaces that inherit one from the other, `depth` deep, each with operations of its own.
fn inheritance(depth: usize) -> String {
    let mut text = String::from("struct S { long x; };\ninterface I0 { void f0(); };\n");
    for n in 1..depth {
        let before = n - 1;
        let _ = writeln!(
            text,
            "interface I{n} : I{before} {{ S f{n}(in S x); attribute S a{n}; }};"
        );
    }
    text
}

/// Makes pairs of interfaces, each of which inherits from both interfaces of the previous pair, so
/// that the number of inheritance paths doubles with each pair.
fn diamonds(depth: usize) -> String {
    let mut text = String::from("interface A0 { void a0(); };\ninterface B0 { void b0(); };\n");
    for n in 1..depth {
        let before = n - 1;
        for side in ["A", "B"] {
            let name = side.to_lowercase();
            let _ = writeln!(
                text,
                "interface {side}{n} : A{before}, B{before} {{ void {name}{n}(); }};"
            );
        }
    }
    text
}

/// Makes structs, each with two members of the previous struct.
fn structs(count: usize) -> String {
    let mut text = String::from("struct S0 { long x; };\n");
    for n in 1..count {
        let before = n - 1;
        let _ = writeln!(
            text,
            "struct S{n} {{ S{before} first; S{before} second; sequence<S{before}> all; }};"
        );
    }
    text
}

fn time_of(text: String) -> Duration {
    let start = Instant::now();
    let compiled = compile_source("large.idl", text, &Options::default(), &InMemory::new());
    if let Err(failure) = compiled {
        panic!(
            "{}",
            punctual_idl::diagnostic::render(&failure.diagnostics, false)
        );
    }
    start.elapsed()
}

/// Prints the time of large files: `cargo test --release -p punctual-idl --test it scale:: -- --ignored
/// --nocapture`
#[test]
#[ignore = "a measurement"]
fn how_long_large_files_take() {
    type Shape = fn(usize) -> String;
    let shapes: [(&str, Shape, usize); 4] = [
        ("operations of one interface", operations, 100_000),
        ("interfaces deep", inheritance, 900),
        ("pairs of interfaces deep", diamonds, 200),
        ("structs in structs", structs, 8_000),
    ];
    for (what, shape, size) in shapes {
        for size in [size / 4, size / 2, size] {
            println!("{size:>7} {what}: {:?}", time_of(shape(size)));
        }
    }
}
