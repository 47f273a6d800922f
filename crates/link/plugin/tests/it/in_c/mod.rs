#![allow(clippy::unwrap_used)]
//! Tests of links in C: the header is right, a link that obeys it is a link like any other, and a
//! library that does not is refused. Skipped, with the reason printed, where there is no C
//! compiler.

mod header;
mod loaded;
mod refusals;
mod support;
