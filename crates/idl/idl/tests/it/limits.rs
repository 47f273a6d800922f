//! Tests that input that would exhaust memory, stack or patience ends in a diagnostic.
#![allow(clippy::unwrap_used)]

use punctual_idl::{InMemory, Options, compile, compile_source};

/// Compiles on a thread with a small stack, and returns the first error's message.
fn first_error(text: String, loader: InMemory) -> String {
    let run = move || {
        let failure = compile_source("main.idl", text, &Options::default(), &loader).unwrap_err();
        let rendered = punctual_idl::diagnostic::render(&failure.diagnostics, false);
        assert!(
            rendered.len() < 100_000,
            "{} bytes of diagnostics",
            rendered.len()
        );
        failure
            .diagnostics
            .iter()
            .find(|d| d.is_error())
            .unwrap()
            .message
            .clone()
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap()
}

fn error_of(text: String) -> String {
    first_error(text, InMemory::new())
}

const DEEP: usize = 100_000;

#[test]
fn modules_nested_too_deep_are_an_error() {
    let text: String = (0..DEEP)
        .map(|level| format!("module M{level} {{"))
        .collect();
    assert!(error_of(text).contains("nested"));
}

#[test]
fn parentheses_nested_too_deep_are_an_error() {
    let text = format!("const long X = {}1{};", "(".repeat(DEEP), ")".repeat(DEEP));
    assert!(error_of(text).contains("nested"));
    let text = format!("#if {}1{}\n#endif\n", "(".repeat(DEEP), ")".repeat(DEEP));
    assert!(error_of(text).contains("nests"));
}

#[test]
fn sequences_nested_too_deep_are_an_error() {
    let text = format!(
        "typedef {}long{} T;",
        "sequence<".repeat(DEEP),
        ">".repeat(DEEP)
    );
    assert!(error_of(text).contains("nested"));
}

#[test]
fn structs_nested_too_deep_are_an_error() {
    let text: String = (0..DEEP)
        .map(|level| format!("struct S{level} {{"))
        .collect();
    assert!(error_of(text).contains("nested"));
    let text: String = (0..DEEP)
        .map(|level| format!("union U{level} switch ("))
        .collect();
    assert!(error_of(text).contains("nested"));
}

#[test]
fn long_chains_of_operators_are_computed_without_recursion() {
    let text = format!("const long X = {}1;", "1+".repeat(DEEP));
    let compiled = compile_source("x.idl", text, &Options::default(), &InMemory::new());
    compiled.unwrap();
    let text = format!("const long X = {}1;", "-".repeat(DEEP));
    compile_source("x.idl", text, &Options::default(), &InMemory::new()).unwrap();
}

#[test]
fn many_open_conditionals_are_an_error() {
    assert!(error_of("#if 1\n".repeat(DEEP)).contains("conditional"));
}

#[test]
fn include_cycles_are_an_error() {
    let loader = InMemory::new()
        .with("a.idl", "#include \"b.idl\"\n#include \"b.idl\"\n")
        .with("b.idl", "#include \"a.idl\"\n#include \"a.idl\"\n");
    assert!(first_error("#include \"a.idl\"\n".into(), loader).contains("include"));
}

#[test]
fn includes_that_multiply_are_an_error() {
    let mut loader = InMemory::new().with("f30.idl", "struct S { long x; };\n");
    for level in 0..30 {
        let line = format!("#include \"f{}.idl\"\n", level + 1);
        loader = loader.with(format!("f{level}.idl"), line.repeat(2));
    }
    first_error("#include \"f0.idl\"\n".into(), loader);
}

#[test]
fn a_macro_that_names_itself_is_not_expanded_for_ever() {
    let text = "#define A B\n#define B A\nstruct A { long x; };\n";
    compile_source("x.idl", text, &Options::default(), &InMemory::new()).unwrap();
}

#[test]
fn macros_that_multiply_are_an_error() {
    let mut text = String::from("#define M0 long\n");
    for level in 1..60 {
        text.push_str(&format!("#define M{level} M{0} M{0}\n", level - 1));
    }
    text.push_str("M59\n");
    assert!(error_of(text).contains("macro"));
    let mut text = String::from("#define D(x) x##x\n#define S(x) #x\n");
    let nested = format!("{}a{}", "D(".repeat(40), ")".repeat(40));
    text.push_str(&nested);
    error_of(text);
}

#[test]
fn macro_arguments_nested_too_deep_are_an_error() {
    let text = format!("#define F(x) x\n{}1{}", "F(".repeat(DEEP), ")".repeat(DEEP));
    assert!(error_of(text).contains("macro"));
}

#[test]
fn the_number_of_errors_is_limited() {
    let text = "const short X = 70000;\n".repeat(DEEP);
    let failure = compile_source("x.idl", text, &Options::default(), &InMemory::new()).unwrap_err();
    assert_eq!(failure.diagnostics.len(), 51);
}

#[test]
fn names_that_multiply_are_an_error() {
    let mut text = String::new();
    for level in 0..150 {
        text.push_str(&format!("module {}{level} {{\n", "m".repeat(1000)));
    }
    for constant in 0..100_000 {
        text.push_str(&format!("const long c{constant} = 1;\n"));
    }
    assert!(error_of(text).contains("complex"));
}

#[test]
fn a_file_of_one_huge_line_is_handled() {
    let text = "const long é = 1; ".repeat(50_000);
    error_of(text);
    let text: String = (0..50_000)
        .map(|n| format!("const long c{n} = 1; "))
        .collect();
    compile_source("x.idl", text, &Options::default(), &InMemory::new()).unwrap();
}

#[test]
fn a_missing_main_file_is_an_error() {
    let failure = compile("/nonexistent/file.idl", &Options::default()).unwrap_err();
    assert!(failure.diagnostics[0].message.contains("cannot find"));
    let failure = compile("/", &Options::default()).unwrap_err();
    assert!(failure.diagnostics[0].message.contains("cannot read"));
}

#[test]
fn a_file_that_is_too_long_is_an_error() {
    let mut options = Options::default();
    options.limits.file_bytes = 10;
    let loader = InMemory::new().with("long.idl", "struct S { long x; };");
    let failure = punctual_idl::compile_with(&loader, "long.idl", &options).unwrap_err();
    assert!(
        failure.diagnostics[0]
            .message
            .contains("longer than 10 bytes")
    );
}
