//! Valuetypes by hand: factories, custom marshalling, and the error of encoding and decoding.
//!
//! A program needs this module when it receives values of types with its own factory ([`ValueFactory`]) or writes the state of a
//! custom valuetype itself ([`CustomMarshal`]). [`ValueRef`](crate::ValueRef) and [`ValueType`](crate::ValueType) are in the
//! root of the crate.

pub use punctual_cdr::{CdrError, CustomMarshal, DataInputStream, DataOutputStream, ValueFactory};
