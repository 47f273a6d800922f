//! Rust code of the interface of the members.

include!(concat!(env!("OUT_DIR"), "/chaos.rs"));
