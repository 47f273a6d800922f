//! Servants: factories, logs and iterators.

mod attributes;
mod factory;
mod iterator;
mod log;
mod records;

pub(crate) use factory::{BasicFactory, FACTORY};
pub(crate) use log::{Basic, ServedLog};
