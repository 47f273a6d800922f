//! Strategies of a connection's callers for waiting for their replies (Arulanthu et al. 2000, §3.1), one file each: [`read`]
//! and [`reactor`]. [`caller`] is how a call uses either.

mod caller;
mod reactor;
mod read;
mod ready;
mod strategy;

pub(crate) use strategy::WaitStrategy;
