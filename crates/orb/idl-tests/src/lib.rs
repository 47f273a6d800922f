//! Rust that the IDL compiler generates for several test programs, compiled once because generating
//! and compiling it takes longer than compiling the tests. IDL that only one test program uses is
//! compiled with that program.
#![allow(missing_docs, clippy::borrow_deref_ref)]

/// Rust code generated from `idl/asynchronous.idl`.
pub mod clerks {
    include!(concat!(env!("OUT_DIR"), "/asynchronous.rs"));
}

/// Rust code generated from `idl/family.idl`.
pub mod families {
    include!(concat!(env!("OUT_DIR"), "/family.rs"));
}

/// Rust code generated from `idl/near.idl`.
pub mod neighbours {
    include!(concat!(env!("OUT_DIR"), "/near.rs"));
}
