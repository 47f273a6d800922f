//! Tests of code generated for speed: plain data, twins that fill buffers, dispatch of operations.
#![allow(clippy::unwrap_used, dead_code)]

use crate::support;

use support::generated;

/// Compares an IDL text's output with a snapshot, without the file's first lines.
macro_rules! snapshot {
    ($name:literal, $idl:expr) => {
        insta::assert_snapshot!($name, generated($idl));
    };
}

#[test]
fn a_struct_of_numbers_is_plain_data() {
    snapshot!(
        "plain data",
        "struct I { octet o; double d; };
         struct S { short type; char c; I inner[2][3]; I more; octet many[300]; float f; };"
    );
    for other in [
        "boolean flag;",
        "wchar wide;",
        "long double exact;",
        "string text;",
        "E which;",
        "sequence<long> several;",
        // In a box.
        "double far[1000];",
        "T inner;",
    ] {
        let idl =
            format!("enum E {{ a }}; struct T {{ E which; }}; struct S {{ long n; {other} }};");
        let text = generated(&idl);
        assert!(
            !text.contains("repr(C)") && !text.contains("plain_struct"),
            "{other}"
        );
    }
}

#[test]
fn a_struct_of_very_many_or_very_deep_numbers_travels_one_by_one() {
    let members: String = (0..257).map(|i| format!("long l{i};")).collect();
    assert!(!generated(&format!("struct S {{ {members} }};")).contains("plain_struct"));
    let chain: String = (1..=40)
        .map(|i| format!("struct S{i} {{ S{} inner; }};", i - 1))
        .collect();
    let text = generated(&format!("struct S0 {{ long l; }}; {chain}"));
    assert_eq!(text.matches("plain_struct! {").count(), 32);
}

#[test]
fn results_with_memory_of_their_own_have_a_twin_that_fills_buffers() {
    snapshot!(
        "twins",
        "exception Bad {};
         typedef sequence<wstring> Words;
         typedef sequence<octet, 9> Octets;
         typedef sequence<double> Doubles;
         typedef string<5> Label;
         typedef string<3> Brief;
         interface I {
           string name(in long id);
           Octets all(out long count, inout string text, out wstring last, out Words many)
             raises (Bad) context (\"a*\");
           readonly attribute Doubles ratios;
           attribute Label tag;
           void name_into(in long other);
           void only_inout(inout string text);
           long none(in string text);
         };
         interface J : I { string mine(in long result, out Brief second); };"
    );
}

#[test]
fn operations_are_found_by_length_and_by_the_octets_that_differ() {
    snapshot!(
        "dispatch",
        "interface I {
           void a(); void b(); void abc(); void abd(); void bbd(); void xbz(); void longer();
         };"
    );
}

/// Makes an interface with that many operations, within that many modules.
fn wide(operations: usize, modules: usize) -> String {
    let operations: String = (0..operations)
        .map(|n| format!("string operation_of_some_length_{n:04}(in long n) raises (E);"))
        .collect();
    let interface = format!("exception E {{}}; interface I {{ {operations} }};");
    (0..modules).fold(interface, |inner, n| format!("module m{n} {{ {inner} }};"))
}

#[test]
fn many_operations_come_in_their_order_whichever_thread_lays_them_out() {
    let text = generated(&wide(500, 1));
    let is_search = |line: &&str| line.contains("if operation ==") || line.contains("Some(");
    let lines = text.lines().filter(|line| !is_search(line));
    let numbers: Vec<usize> = lines
        .flat_map(|line| line.split("operation_of_some_length_").skip(1))
        .map(|rest| rest[..4].parse().unwrap())
        .collect();
    // Reference, trait, delegate, names, answers, skeleton, errors.
    let parts: Vec<&[usize]> = numbers.chunk_by(|one, next| one <= next).collect();
    assert_eq!(parts.len(), 7, "{numbers:?}");
    assert!(
        parts
            .iter()
            .all(|part| part.chunk_by(usize::eq).count() == 500)
    );
    assert_eq!(text, generated(&wide(500, 1)));
}

#[test]
fn operations_within_very_many_modules_are_all_there() {
    for modules in [7, 8, 9, 12] {
        let text = generated(&wide(70, modules));
        for n in 0..70 {
            for part in [
                format!("pub fn operation_of_some_length_{n:04}("),
                format!("\"operation_of_some_length_{n:04}\","),
                format!("ISkeleton::operation_of_some_length_{n:04},"),
                format!("if operation == \"operation_of_some_length_{n:04}\" => {{"),
                format!("Some(ISkeleton::operation_of_some_length_{n:04})"),
            ] {
                assert!(text.contains(&part), "{modules} modules: no {part}");
            }
        }
    }
}
