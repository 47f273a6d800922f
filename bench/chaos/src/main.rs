//! Chaos.
#![allow(dead_code)]
mod checker;
mod history;
#[path = "../../soak/src/random.rs"]
mod random;
fn main() {}
