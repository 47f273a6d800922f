//! Calls and objects without the IDL compiler: the dynamic invocation interface, the dynamic skeleton
//! interface, and a gateway made of both.
#![allow(clippy::unwrap_used)]

mod deferred;
mod gateways;
mod requests;
mod servants;

/// A typed servant, and an ORB with an object.
#[path = "../collocation/servant.rs"]
#[allow(dead_code, unused_imports)]
mod servant;
#[path = "../../../punctual/tests/support/mod.rs"]
mod support;

/// What `idl/near.idl` becomes.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/near.rs"));
}
