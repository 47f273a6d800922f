//! Tests that compiling ends in an orderly way whatever the input.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use punctual_idl::diagnostic::render;
use punctual_idl::model::Type;
use punctual_idl::{FileSystem, InMemory, Limits, Options, compile_source};

/// IDL that uses each construct, as a base for mutations.
const SAMPLE: &str = include_str!("sample.idl");

/// Returns compiler options with limits low enough to end each fuzzed compilation soon.
fn options() -> Options {
    let limits = Limits {
        macro_tokens: 20_000,
        tokens: 50_000,
        nesting: 64,
        ..Limits::default()
    };
    Options {
        limits,
        ..Options::default()
    }
}

fn survives(text: Vec<u8>) {
    let loader = InMemory::new().with("sample.idl", SAMPLE);
    match compile_source("fuzz.idl", text, &options(), &loader) {
        Ok(compilation) => {
            for declaration in &compilation.specification.declarations {
                compilation.specification.ancestors(declaration.id);
                let named = Type::Named(declaration.id);
                compilation.specification.contains(&named, |_| false);
            }
            render(&compilation.warnings, true);
        }
        Err(failure) => {
            assert!(failure.diagnostics.iter().any(|d| d.is_error()));
            render(&failure.diagnostics, true);
        }
    }
}

/// Generates fragments of IDL: words of the sample, and tokens with a meaning to the compiler.
fn fragment() -> impl Strategy<Value = String> {
    let words: Vec<&str> = SAMPLE.split_inclusive(char::is_whitespace).collect();
    let punctuation = [
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        ">>",
        ";",
        ":",
        "::",
        ",",
        "=",
        "@",
        "#",
        "\\\n",
        "\"",
        "'",
        "L\"",
        "/*",
        "*/",
        "//",
        "\n#if 1\n",
        "\n#endif\n",
        "\n#define X(a) a##a #a\n",
        "X(",
        "\n#include \"sample.idl\"\n",
        "\n#pragma ID ",
        "é",
        "\0",
        "0x",
        "1.5d",
        "1e400",
    ];
    prop_oneof![
        proptest::sample::select(words).prop_map(str::to_owned),
        proptest::sample::select(punctuation.to_vec()).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn arbitrary_bytes_end_in_a_result(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        survives(bytes);
    }

    #[test]
    fn arbitrary_fragments_of_idl_end_in_a_result(
        fragments in proptest::collection::vec(fragment(), 0..80)
    ) {
        survives(fragments.concat().into_bytes());
    }

    #[test]
    fn mutated_idl_ends_in_a_result(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..40_usize, fragment()), 1..8)
    ) {
        let mut text = SAMPLE.to_owned();
        for (index, length, insert) in edits {
            let mut start = index.index(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, &insert);
            if text.is_empty() { break; }
        }
        survives(text.into_bytes());
    }
}

#[test]
fn the_sample_is_valid() {
    let compiled = compile_source("sample.idl", SAMPLE, &options(), &InMemory::new());
    if let Err(failure) = compiled {
        panic!("{}", render(&failure.diagnostics, false));
    }
}

#[test]
fn every_prefix_of_the_sample_ends_in_a_result() {
    for length in (0..SAMPLE.len()).filter(|length| SAMPLE.is_char_boundary(*length)) {
        survives(SAMPLE.as_bytes()[..length].to_vec());
    }
}

#[cfg(unix)]
#[test]
fn an_include_of_a_pipe_or_a_device_is_an_error_and_waits_for_no_writer() {
    let folder = std::env::temp_dir().join(format!("punctual-idl-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("pipe.idl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let main = folder.join("main.idl");
    for included in ["pipe.idl", "/dev/zero"] {
        let text = format!("#include \"{included}\"\n");
        let failure = compile_source(&main, text, &Options::default(), &FileSystem).unwrap_err();
        let shown = render(&failure.diagnostics, false);
        assert!(shown.contains("cannot read the file"), "{shown}");
        assert!(shown.contains("no regular file"), "{shown}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
