//! Threads, each started from one value that says what it is like.
//!
//! What a [`ThreadSpec`] asks for beyond name and stack size is set by the new thread itself, before its work.
//! What the machine refuses of it is the error of whoever starts the thread, and the work is not begun: a
//! thread never runs at another priority than it was meant to.

mod error;
mod start;

pub use error::{Requirement, SpawnError};
pub use punctual_sys::processor::Processors;
pub use punctual_sys::scheduling::{
    InvalidReservation, Policy, Reservation, Scheduling, native_priorities,
};
pub use start::JoinHandle;

use std::borrow::Cow;

/// How a thread is started: name, scheduling, processors, stack.
///
/// A specification with a name alone costs what `std::thread` costs; one that asks for more makes whoever
/// starts the thread wait until it runs and has what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSpec {
    name: Cow<'static, str>,
    scheduling: Option<Scheduling>,
    processors: Option<Processors>,
    stack_size: Option<usize>,
    prefault_stack: bool,
}

impl ThreadSpec {
    /// A thread with this name, which shows in the operating system's listings, cut to 15 octets. It is
    /// scheduled like the thread that starts it, runs on the same processors, and has a stack of the usual
    /// size (2 MiB, or `RUST_MIN_STACK`).
    #[must_use]
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            scheduling: None,
            processors: None,
            stack_size: None,
            prefault_stack: false,
        }
    }

    /// The same with another name.
    #[must_use]
    pub fn with_name(&self, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// Scheduling policy and native priority. Default: as the thread that starts it.
    #[must_use]
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = Some(scheduling);
        self
    }

    /// The processors it may run on. Default: as the thread that starts it.
    #[must_use]
    pub fn processors(mut self, processors: Processors) -> Self {
        self.processors = Some(processors);
        self
    }

    /// The size of its stack in octets, at least; the operating system rounds it up. Default 2 MiB.
    #[must_use]
    pub fn stack_size(mut self, octets: usize) -> Self {
        self.stack_size = Some(octets);
        self
    }

    /// Whether all of its stack is brought into memory before it begins (Linux 5.14), so that no page fault
    /// delays it later. Default off: pages come as they are used.
    #[must_use]
    pub fn prefault_stack(mut self, prefault: bool) -> Self {
        self.prefault_stack = prefault;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a thread. Dropping what is returned lets it run on its own.
    ///
    /// # Errors
    /// [`SpawnError::Refused`] when the machine does not give what is asked for, [`SpawnError::Os`] when
    /// there is no thread to be had, or the name holds a zero. The work is dropped then, on whichever thread.
    pub fn start<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, SpawnError> {
        start::start(self, work)
    }
}

impl From<&str> for ThreadSpec {
    fn from(name: &str) -> Self {
        Self::named(name.to_owned())
    }
}

impl From<String> for ThreadSpec {
    fn from(name: String) -> Self {
        Self::named(name)
    }
}

impl From<&ThreadSpec> for ThreadSpec {
    fn from(spec: &ThreadSpec) -> Self {
        spec.clone()
    }
}
