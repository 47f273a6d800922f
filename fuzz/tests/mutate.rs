//! Unit tests of the mutations, which are compiled here once more: to compile the whole library with
//! its tests takes several times as long.
#![allow(dead_code, unreachable_pub)]

#[path = "../src/mutate.rs"]
mod mutate;

use punctual_fuzz::target;
