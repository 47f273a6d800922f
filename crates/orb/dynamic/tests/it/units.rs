//! Unit tests of modules that stand alone, which are compiled here once more: to compile the whole
//! library with its tests takes several times as long.
#![allow(dead_code, unreachable_pub)]

#[path = "../../src/json/near.rs"]
mod near;
#[path = "../../src/json/octets.rs"]
mod octets;
#[path = "../../src/json/read/text.rs"]
mod text;
