//! Answers to short requests that exceed the maximum length of a message. A separate process, as
//! its peak memory is measured, and so there is only one test.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use std::fmt::Write;

use punctual::policy::Collocation;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual::{
    Interface, ListenEndpoint, Orb, Poa, RootPoa, SystemException, SystemExceptionKind, TypeCode,
    minor,
};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::{
    Container, DefinitionKind, EnumDef, InterfaceDef, Repository, StructDef, UnionDef, ValueDef,
};
use support::specification;

const MIB: usize = 1 << 20;
/// Maximum length of a GIOP message in the tests, in bytes.
const LIMIT: usize = 8 * MIB;
const LABELS: usize = 20_000;

/// Returns IDL with many uses of the same large enum.
fn idl() -> String {
    let labels: Vec<String> = (0..LABELS).map(|label| format!("e{label}")).collect();
    let mut idl = format!("enum E {{ {} }};\n", labels.join(", "));
    let repeated = |times: usize, one: &str| {
        (0..times).fold(String::new(), |mut text, number| {
            write!(text, "{} ", one.replace('#', &number.to_string())).unwrap();
            text
        })
    };
    let calls = "void o#(in E a); ";
    for (head, one, times, end) in [
        ("interface Many {", calls, 500, "};"),
        ("interface Few {", calls, 10, "};"),
        ("interface Raised {", "", 0, ""),
        ("exception X { E a; };", "void o#() raises (X); ", 500, "};"),
        ("interface Read {", "attribute E a#; ", 500, "};"),
        ("module Types {", "typedef E T#; ", 500, "};"),
        ("struct Members {", "E m#; ", 500, "};"),
        ("union Chosen switch (long) {", "case #: E m#; ", 500, "};"),
        ("valuetype State {", "public E m#; ", 500, "};"),
        ("valuetype Made {", "factory f#(in E a); ", 500, "};"),
    ] {
        idl += head;
        idl += &repeated(times, one);
        idl += end;
        idl.push('\n');
    }
    idl
}

fn served() -> (Poa, Repository) {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| {
            config.collocation = Collocation::None;
            config.limits.message = LIMIT;
        })
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(&idl())).unwrap();
    let root = repository.serve(&poa).unwrap();
    (poa, root)
}

fn found<I: Interface>(root: &Repository, name: &str) -> I {
    I::from_object(root.lookup(name).unwrap().unwrap().into())
}

/// Returns the peak memory of the process so far, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<usize>().unwrap() << 10
}

fn length(type_code: &TypeCode) -> usize {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    type_code.marshal(&mut out).unwrap();
    out.position()
}

#[track_caller]
fn assert_too_large<T: std::fmt::Debug>(answer: Result<T, SystemException>) {
    let exception = answer.unwrap_err();
    let said = (exception.kind(), exception.minor());
    assert_eq!(
        said,
        (SystemExceptionKind::ImpLimit, minor::LIMIT),
        "{exception}"
    );
}

#[test]
fn descriptions_beyond_a_message_are_refused_and_cost_about_what_may_be_sent() {
    crate::alone::alone(|| {
        let (poa, root) = served();
        let large = found::<EnumDef>(&root, "E").r#type().unwrap();
        let each = length(&large);
        assert!(each > LABELS * 10);
        // The allowed answer is sent; this is its cost in this process, on both sides of the
        // connection.
        let few = found::<InterfaceDef>(&root, "Few");
        let few = few.describe_interface().unwrap();
        assert_eq!(few.operations.len(), 10);
        for operation in &few.operations {
            assert_eq!(operation.parameters[0].r#type, large);
        }
        drop(few);
        let all = DefinitionKind::DkAll;
        let types = found::<Container>(&root, "Types");
        let fitting = i32::try_from(LIMIT / (each + 1024)).unwrap();
        let described = types.describe_contents(all, true, fitting).unwrap();
        assert_eq!(described.len(), usize::try_from(fitting).unwrap());
        assert!(described.len() * each > LIMIT / 100 * 95);
        drop(described);
        let before = peak();
        assert_too_large(types.describe_contents(all, true, fitting + 1));
        assert_too_large(types.describe_contents(all, true, -1));
        for name in ["Many", "Raised", "Read"] {
            let interface = found::<InterfaceDef>(&root, name);
            assert_too_large(interface.describe_interface());
            let contents: Container = found(&root, name);
            assert_too_large(contents.describe_contents(all, true, -1));
        }
        for name in ["State", "Made"] {
            assert_too_large(found::<ValueDef>(&root, name).describe_value());
        }
        assert_too_large(found::<ValueDef>(&root, "Made").initializers());
        assert_too_large(found::<StructDef>(&root, "Members").members());
        assert_too_large(found::<UnionDef>(&root, "Chosen").members());
        let grown = peak() - before;
        // Each of these took hundreds of MiB.
        assert!(grown < 32 * MIB, "they took {grown} octets");
        // The repository itself serves on.
        assert_eq!(root.contents(all, true).unwrap().len(), 10);
        poa.orb().shutdown(true).unwrap();
    });
}
