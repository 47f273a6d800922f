//! The console as seen by browsers, and by programs that pretend to be one: requests written by
//! hand.
#![allow(clippy::unwrap_used)]

mod channels;
mod elsewhere;
mod events;
mod group_service;
mod groups;
mod limits;
mod live;
mod names;
mod pages;
mod support;
