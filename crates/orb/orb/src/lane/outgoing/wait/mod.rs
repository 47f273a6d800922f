//! Strategies by which a connection's callers wait for their replies (Arulanthu et al. 2000, §3.1),
//! one file each: [`read`] and [`reactor`]. [`caller`] is their common entry.

mod caller;
mod reactor;
mod read;
mod ready;
mod strategy;

pub(crate) use strategy::WaitStrategy;
