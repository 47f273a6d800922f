//! `punctual demo avionics`: mission computing on three boards, each a process (O'Ryan et al. 2001, §3.2).
//!
//! A board has an event channel, which receives from those of the others what its consumers want. Interrupts of sensors
//! are periodic threads; all that they release are consumers, at the levels of the plan. Stand-ins use the planned
//! processor time.
//!
//! ```text
//! plan      the model, and what a board takes from it
//! protocol  lines between the command and its boards
//! role      one operation: its work, its events, its counts
//! board     the process of a board
//! boards    processes as the command sees them
//! flight    the run: start, end, collection
//! report    planned beside measured, as a table and as JSON
//! command   options and outcome
//! ```

mod board;
mod boards;
mod command;
mod flight;
mod plan;
mod protocol;
mod report;
mod role;

pub(super) use board::run_part;
pub(super) use command::{Options, run};
