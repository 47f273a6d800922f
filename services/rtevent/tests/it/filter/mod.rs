//! Filters: TAO's two conventions, errors, and what each node means.

mod basic;
mod errors;
mod meaning;
mod prefix;
mod support;
