//! Several hosts: network namespaces with a pair of virtual Ethernet devices between them.
//!
//! They need root and `ip` (iproute2), and are skipped with a printed reason without them, unless
//! `PUNCTUAL_REQUIRE_NETWORK` is set.
#![allow(clippy::unwrap_used, missing_docs)]

mod cable;
mod clocks;
mod event_links;
mod namespaces;
mod simulation;
