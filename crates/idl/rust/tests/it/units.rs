//! Unit tests of modules that stand alone, which are compiled here once more: to compile the whole
//! library with its tests takes several times as long.
#![allow(dead_code, unreachable_pub)]

#[path = "../../src/names/case.rs"]
mod case;
#[path = "../../src/docs.rs"]
mod docs;
#[path = "../../src/layout/list.rs"]
mod list;
#[path = "../../src/layout/margin.rs"]
mod margin;
#[path = "../../src/parallel.rs"]
mod parallel;
#[path = "../../src/quadruple.rs"]
mod quadruple;
