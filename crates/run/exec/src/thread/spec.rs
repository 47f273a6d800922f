//! Specification of a thread.

use punctual_sys::processor::Processors;
use punctual_sys::scheduling::Scheduling;
use std::borrow::Cow;

/// Specification of a thread: name, scheduling, processors, stack.
///
/// A specification with a name alone costs what `std::thread` costs; with more, the starting thread
/// waits until the new one runs and has what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSpec {
    pub(super) name: Cow<'static, str>,
    pub(super) scheduling: Option<Scheduling>,
    pub(super) processors: Option<Processors>,
    pub(super) stack_size: Option<usize>,
    pub(super) prefault_stack: bool,
}

impl ThreadSpec {
    /// Makes the specification of a thread with this name, which the operating system's listings
    /// show, cut to 15 bytes. It is scheduled like the thread that starts it, runs on the same
    /// processors, and has a stack of the usual size (2 MiB, or `RUST_MIN_STACK`).
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

    /// Returns a copy of the thread specification with another name.
    #[must_use]
    pub fn with_name(&self, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// Sets scheduling policy and native priority. Default: those of the starting thread.
    #[must_use]
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = Some(scheduling);
        self
    }

    /// Sets the processors that the thread may run on. Default: those of the starting thread.
    #[must_use]
    pub fn processors(mut self, processors: Processors) -> Self {
        self.processors = Some(processors);
        self
    }

    /// Sets the least size of the stack in bytes; the operating system rounds it up. Default 2 MiB.
    #[must_use]
    pub fn stack_size(mut self, octets: usize) -> Self {
        self.stack_size = Some(octets);
        self
    }

    /// Sets whether all of the stack is brought into memory before the work begins (Linux 5.14), so
    /// that no page fault delays it later. Default off: pages are mapped as they are used.
    #[must_use]
    pub fn prefault_stack(mut self, prefault: bool) -> Self {
        self.prefault_stack = prefault;
        self
    }

    /// Returns the name that threads with this specification get.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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
