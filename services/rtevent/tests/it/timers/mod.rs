//! Timers of filters.

mod kinds;
mod threads;
