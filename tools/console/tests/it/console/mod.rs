//! The console as browsers, and those who pretend to be one, see it: requests by hand.
#![allow(clippy::unwrap_used)]

mod elsewhere;
mod limits;
mod live;
mod names;
mod pages;
mod support;
