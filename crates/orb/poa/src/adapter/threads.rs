//! Which threads make an adapter's upcalls (CORBA 3.3 part 1, §15.3.8.1).

use crate::policy::ThreadPolicy;
use parking_lot::ReentrantMutex;

/// Who may.
pub(super) enum Threads {
    /// Any thread of the ORB, several at once.
    Any,
    /// One at a time, which may come again while it is in.
    One(ReentrantMutex<()>),
}

impl Threads {
    pub(super) fn new(policy: ThreadPolicy) -> Self {
        match policy {
            ThreadPolicy::OrbControl => Self::Any,
            _ => Self::One(ReentrantMutex::new(())),
        }
    }

    /// Makes an upcall when its turn comes.
    pub(super) fn run<R>(&self, upcall: impl FnOnce() -> R) -> R {
        match self {
            Self::Any => upcall(),
            Self::One(turn) => {
                let _turn = turn.lock();
                upcall()
            }
        }
    }
}
