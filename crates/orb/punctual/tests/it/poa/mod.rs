//! Portable Object Adapter as clients in another ORB see it: every policy, every operation.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod activation;
mod activators;
mod current;
mod default_servants;
mod demultiplexing;
mod destruction;
mod edges;
mod endings;
mod ior_table;
mod keys;
mod locators;
mod managed;
mod managers;
mod persistence;
mod references;
mod soak;
use crate::support;
mod teller;
mod threads;
mod tree;
mod waiting;
