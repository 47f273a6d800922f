//! `punctual demo`: this command starts itself as several processes, so that nothing else must be built or found.

mod avionics;
mod cubit;
mod options;
mod owned;
mod simulation;

pub(crate) use options::{Options, run, run_part};
