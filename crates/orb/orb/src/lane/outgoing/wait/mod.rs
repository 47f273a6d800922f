//! How the callers of a connection wait for their replies (Arulanthu et al. 2000, §3.1: the wait strategies), one file
//! each: [`read`] and [`reactor`]. [`caller`] is what a call sees of either.

mod caller;
mod reactor;
mod read;
mod ready;
mod strategy;

pub(crate) use strategy::WaitStrategy;
