//! `punctual demo simulation`: an interactive simulation of several hosts (Schmidt and O'Ryan, distributed interactive
//! simulations). Each host simulates a share of the entities, and publishes their states by multicast; all show all of
//! them, and extrapolate between two states.
//!
//! ```text
//! motion   how an entity moves, and when its state is published
//! picture  what a host knows of the others' entities, and what it has missed
//! host     the process of a host: its channel, its link, its ticks
//! hosts    processes as the command sees them
//! world    what all hosts have in common
//! command  options and outcome
//! ```

mod command;
mod host;
mod hosts;
mod motion;
mod picture;
mod world;

pub(super) use command::{Options, run};

#[allow(clippy::all, clippy::pedantic, dead_code, unreachable_pub)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/simulation.rs"));
}

use generated::simulation::EntityState;
