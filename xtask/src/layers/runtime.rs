//! Layers of the IDL compiler, the wire, the links and the ORB.

use super::Allowed;
use super::names::{ANY, CDR, CONSTRAINT, EXEC, GIOP, HEAP, IOR, LINK, MODELS, SYS};

/// Crates up to the facade, each with those on which it may depend.
pub(super) const RUNTIME: &[Allowed] = &[
    // idl: build time only; the runtime never sees it.
    ("punctual-idl", &[]),
    ("punctual-idl-rust", &["punctual-idl"]),
    ("punctual-build", &["punctual-idl", "punctual-idl-rust"]),
    // wire: no I/O, no clock, no threads.
    ("punctual-cdr", &[]),
    ("punctual-ior", &["punctual-cdr"]),
    ("punctual-giop", &["punctual-cdr", "punctual-ior"]),
    (ANY, &["punctual-cdr", "punctual-ior"]),
    // Constraints of services that filter, without an ORB.
    (CONSTRAINT, &[CDR, ANY]),
    // Used at build time, and by tools that meet IDL when they run.
    ("punctual-idl-describe", &["punctual-idl", ANY]),
    // run
    ("punctual-sys", &[]),
    // Of tests alone: loom in the place of what exec has of threads.
    (MODELS, &[]),
    // An allocator that counts: tests of all crates may depend on it.
    (HEAP, &[]),
    ("punctual-exec", &["punctual-sys", MODELS]),
    // link: bytes only.
    (
        "punctual-link",
        &["punctual-cdr", "punctual-sys", "punctual-exec"],
    ),
    (
        "punctual-link-conformance",
        &[
            "punctual-link",
            "punctual-cdr",
            "punctual-exec",
            "punctual-sys",
        ],
    ),
    (
        "punctual-plugin",
        &[CDR, EXEC, LINK, "punctual-link-conformance"],
    ),
    (
        "punctual-vsock",
        &[LINK, EXEC, SYS, "punctual-link-conformance"],
    ),
    (
        "punctual-tls",
        &[LINK, CDR, EXEC, SYS, "punctual-link-conformance"],
    ),
    // orb
    (
        "punctual-orb",
        &[
            CDR,
            IOR,
            GIOP,
            ANY,
            SYS,
            EXEC,
            MODELS,
            LINK,
            "punctual-plugin",
            "punctual-tls",
            "punctual-vsock",
        ],
    ),
    (
        "punctual-poa",
        &["punctual-orb", CDR, IOR, GIOP, ANY, EXEC, MODELS],
    ),
    ("punctual-bridge", &["punctual-orb", CDR, IOR, GIOP, LINK]),
    (
        "punctual-dynamic",
        &["punctual-orb", "punctual-poa", CDR, IOR, ANY],
    ),
    (
        "punctual-rt",
        &["punctual-orb", "punctual-poa", CDR, IOR, GIOP, SYS, EXEC],
    ),
    (
        "punctual-fault-tolerance",
        &["punctual-orb", CDR, IOR, GIOP, SYS],
    ),
    (
        "punctual-multicast",
        &["punctual-orb", "punctual-poa", CDR, IOR, GIOP, LINK],
    ),
    ("punctual-observe", &["punctual-orb", CDR, GIOP, ANY, EXEC]),
    (
        "punctual",
        &[
            "punctual-observe",
            "punctual-orb",
            "punctual-poa",
            "punctual-bridge",
            "punctual-dynamic",
            "punctual-rt",
            "punctual-fault-tolerance",
            "punctual-multicast",
            "punctual-plugin",
            "punctual-tls",
            "punctual-vsock",
            CDR,
            IOR,
            GIOP,
            ANY,
            // Tests read options of sockets back.
            SYS,
            EXEC,
            LINK,
        ],
    ),
    // Tests of the facade that need the compiler, which its own may not see.
    ("punctual-idl-tests", &["punctual", "punctual-build"]),
];
