//! Tests: every key takes effect, invalid values are refused, and the documentation pages match the
//! table of settings.

mod arguments;
mod file;
mod pages;
