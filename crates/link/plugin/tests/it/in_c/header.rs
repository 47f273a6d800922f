//! Tests that the C header and the Rust module agree.

use crate::in_c::support;
use punctual_plugin::abi;
use std::fmt::Write;
use std::mem::offset_of;

fn header() -> String {
    std::fs::read_to_string(support::home().join("include/punctual_link.h")).unwrap()
}

/// Generates C code that compiles only where the header's structs are laid out as ours are.
macro_rules! assert_layout {
    ($to:ident, $($name:literal $struct:ident { $($field:ident)+ })+) => {$(
        writeln!($to, "_Static_assert(sizeof({}) == {}, {:?});",
            $name, size_of::<abi::$struct>(), $name).unwrap();
        $(writeln!($to, "_Static_assert(offsetof({0}, {1}) == {2}, \"{0}.{1}\");",
            $name, stringify!($field), offset_of!(abi::$struct, $field)).unwrap();)+
    )+};
}

#[test]
fn the_header_states_the_signature_of_this_version() {
    let line = format!(
        "#define PUNCTUAL_SIGNATURE UINT64_C({:#018x})",
        abi::SIGNATURE
    );
    assert!(
        header().contains(&line),
        "the ABI has changed: if no version of it was ever given out, put `{line}` in the header; \
         else raise the version, too"
    );
}

#[test]
fn each_struct_is_laid_out_alike() {
    let Some(mut compiler) = support::compiler() else {
        return;
    };
    let mut program = String::from("#include \"punctual_link.h\"\n");
    assert_layout! { program,
        "punctual_text" Text { octets length }
        "punctual_property" Property { key value }
        "punctual_part" Part { octets length }
        "punctual_guarantees" RawGuarantees { reliable ordered framing reserved largest }
        "punctual_failure" Failure {
            phase text_length expected_length reserved number text expected
        }
        "punctual_table" Table {
            magic version size signature flags open drop_link name guarantees connect listen
            acceptor_place accept close_acceptor drop_acceptor send receive pending close peer local
            descriptor drop_connection
        }
    }
    compile(&mut compiler, &program, "layout.c");
}

#[test]
fn each_constant_has_the_same_value() {
    let Some(mut compiler) = support::compiler() else {
        return;
    };
    let mut program = String::from("#include \"punctual_link.h\"\n");
    let phases = ["RESOLVE", "CONNECT", "LISTEN", "ACCEPT", "SEND", "RECEIVE"];
    assert_eq!(phases.len(), abi::PHASES.len());
    for (index, (name, phase)) in phases.iter().zip(abi::PHASES).enumerate() {
        assert_eq!(format!("{phase:?}").to_uppercase(), *name);
        writeln!(
            program,
            "_Static_assert(PUNCTUAL_{name} == {}, \"\");",
            index + 1
        )
        .unwrap();
    }
    let constants = [
        ("OK", i128::from(abi::OK)),
        ("TIMED_OUT", abi::TIMED_OUT.into()),
        ("CLOSED", abi::CLOSED.into()),
        ("BAD_ADDRESS", abi::BAD_ADDRESS.into()),
        ("BAD_PROPERTY", abi::BAD_PROPERTY.into()),
        ("BAD_PEER", abi::BAD_PEER.into()),
        ("TOO_LARGE", abi::TOO_LARGE.into()),
        ("NO_MEMORY", abi::NO_MEMORY.into()),
        ("OS", abi::OS.into()),
        ("PANICKED", abi::PANICKED.into()),
        ("QUIET", abi::QUIET.into()),
        ("DATA", abi::DATA.into()),
        ("END", abi::END.into()),
        ("STREAM", abi::STREAM.into()),
        ("DATAGRAM", abi::DATAGRAM.into()),
        ("NEVER", abi::NEVER.into()),
        ("VERSION", abi::VERSION.into()),
        ("MAGIC", abi::MAGIC.into()),
        ("RESIDENT", abi::RESIDENT.into()),
        ("LONGEST_REASON", 256),
        ("LONGEST_PLACE", 4096),
        ("LONGEST_NAME", 64),
    ];
    assert_eq!(
        (abi::LONGEST_REASON, abi::LONGEST_PLACE, abi::LONGEST_NAME),
        (256, 4096, 64)
    );
    for (name, value) in constants {
        writeln!(
            program,
            "_Static_assert(PUNCTUAL_{name} == {value}, \"{name}\");"
        )
        .unwrap();
    }
    compile(&mut compiler, &program, "constants.c");
}

fn compile(compiler: &mut std::process::Command, program: &str, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(name);
    std::fs::write(&source, program).unwrap();
    support::run(compiler.arg("-fsyntax-only").arg(source));
}
