//! Tests of files that reach the limit on the compiler's work; they take half a minute in a build
//! without optimisation.
#![allow(clippy::unwrap_used)]

use punctual_idl::{InMemory, Options, compile_source};

/// Returns the message of the first error in `text`.
fn error_of(text: String) -> String {
    let loader = InMemory::new();
    let failure = compile_source("main.idl", text, &Options::default(), &loader).unwrap_err();
    let first = failure.diagnostics.iter().find(|one| one.is_error());
    first.unwrap().message.clone()
}

#[test]
fn inheritance_that_multiplies_is_an_error() {
    let mut text = String::from("interface I0 {};\n");
    for level in 1..20_000 {
        text.push_str(&format!("interface I{level} : I{} {{}};\n", level - 1));
    }
    assert!(error_of(text).contains("bases"));
    let mut text = String::from("interface A { void z();\n");
    for operation in 0..20_000 {
        text.push_str(&format!("void f{operation}();\n"));
    }
    text.push_str("};\ninterface B {};\n");
    for interface in 0..20_000 {
        text.push_str(&format!("interface C{interface} : A, B {{}};\n"));
    }
    assert!(error_of(text).contains("complex"));
}
