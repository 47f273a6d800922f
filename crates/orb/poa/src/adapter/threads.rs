//! Threads that make an adapter's upcalls (CORBA 3.3 part 1, §15.3.8.1).

use crate::policy::ThreadPolicy;
use parking_lot::ReentrantMutex;

/// Threads that may make upcalls to an adapter's servants.
pub(super) enum Threads {
    /// Any thread of the ORB; several may make upcalls at once.
    Any,
    /// One thread at a time; in an upcall, the thread may make nested upcalls.
    One(ReentrantMutex<()>),
    /// Main thread of the ORB only.
    Main,
}

impl Threads {
    pub(super) fn new(policy: ThreadPolicy) -> Self {
        match policy {
            ThreadPolicy::OrbControl => Self::Any,
            ThreadPolicy::SingleThread => Self::One(ReentrantMutex::new(())),
            ThreadPolicy::MainThread => Self::Main,
        }
    }
}
