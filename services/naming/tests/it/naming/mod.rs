//! The naming service as its clients see it, by requests.
#![allow(clippy::unwrap_used)]

mod access;
mod client;
mod contexts;
mod directory;
mod extended;
mod federation;
mod group_service;
mod groups;
mod iterators;
mod limits;
mod store;
mod temporary;
mod urls;
