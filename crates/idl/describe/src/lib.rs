//! What IDL declares, as data: TypeCodes of its types, and descriptions of its interfaces with all that they
//! inherit. What the IDL compiler writes as Rust, this tells at run time: who calls an object by its IDL file
//! ([`interface`]), and who keeps an Interface Repository.
//!
//! What CORBA 3.3 has no kinds for is told as what looks the same on the wire, as generated code tells it: a
//! bitmask or bitset is an alias of its integer, a map a sequence of pairs, an optional member a union over a
//! boolean.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod interface;
mod types;

pub use interface::{exception, interface, interfaces, operation};
pub use types::{describe, type_code, type_of};
