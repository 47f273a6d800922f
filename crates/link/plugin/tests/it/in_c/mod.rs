#![allow(clippy::unwrap_used)]
//! Links in C: the header is right, a link that keeps to it is a link like any other, and a library
//! that does not is refused. Skipped, with the reason printed, where there is no C compiler.

mod header;
mod loaded;
mod refusals;
mod support;
