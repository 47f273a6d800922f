//! Declarations of IDL as data: TypeCodes of its types, and descriptions of its interfaces with
//! everything they inherit. The same information that the IDL compiler writes as Rust, available at
//! run time: for clients that call an object by its IDL file ([`interface`]), and for an Interface
//! Repository.
//!
//! Types without a kind in CORBA 3.3 are described as types with the same form on the wire, as in
//! generated code: a bitmask or bitset is an alias of its integer, a map a sequence of pairs, an
//! optional member a union over a boolean.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod interface;
mod types;

pub use interface::{exception, interface, interfaces, operation};
pub use types::{describe, type_code, type_of, value_types};
