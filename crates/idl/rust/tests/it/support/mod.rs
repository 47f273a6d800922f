//! Support: IDL texts to Rust texts.
#![allow(dead_code)]

use punctual_idl::diagnostic::{Diagnostic, render};
use punctual_idl::{InMemory, compile_source};
use punctual_idl_rust::{Generated, Options, generate};

/// IDL module that the tested IDL texts include.
const OTHER: &str = "
module other {
  module deep { struct T { long l; }; };
  native Odd;
  local interface Value { void f(in Odd o); };
  local interface Holder { void f(in Value v); };
  struct Fine { long l; };
};
";

pub(crate) fn compiled(idl: &str, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    let files = InMemory::new().with("dir/other.idl", OTHER);
    let compilation = compile_source(
        "dir/test.idl",
        idl,
        &punctual_idl::Options::default(),
        &files,
    )
    .map_err(|failure| failure.diagnostics)
    .unwrap_or_else(|problems| panic!("{}", render(&problems, false)));
    generate(&compilation.specification, options)
}

pub(crate) fn generated(idl: &str) -> String {
    generated_with(idl, &without_type_codes())
}

/// Returns options for one construct at a time: TypeCodes have snapshots of their own.
pub(crate) fn without_type_codes() -> Options {
    Options {
        type_codes: false,
        ..Options::default()
    }
}

pub(crate) fn generated_with(idl: &str, options: &Options) -> String {
    let text = compiled(idl, options)
        .unwrap_or_else(|problems| panic!("{}", render(&problems, false)))
        .source;
    let (_header, text) = text.split_once("\n\n").unwrap();
    text.to_owned()
}

pub(crate) fn warnings(idl: &str) -> String {
    render(&compiled(idl, &Options::default()).unwrap().warnings, false)
}

pub(crate) fn refused(idl: &str, options: &Options) -> String {
    render(&compiled(idl, options).unwrap_err(), false)
}
