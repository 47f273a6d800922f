//! The seam to the object adapter: how a caller of this process gets to a servant.

use super::answer::DispatchError;
use super::provided::Provided;
use crate::interceptor::ServedObject;
use std::fmt;

/// An object of this process, as its adapter lets callers of this process to it. Found once for a
/// reference ([`crate::ObjectAdapter::collocated`]) and kept with it: it must keep neither its ORB nor a
/// servant alive.
///
/// `run` calls the servant, on the caller's thread, and is to be run once at most. It may panic, as a
/// servant may: what has been entered is to be left then, too.
pub trait Collocated: Send + Sync {
    /// Lets a call to the servant as if a request had come: when the adapter admits it, by the way that the
    /// servant is found or made, counted, and with Current set.
    ///
    /// # Errors
    /// What a request would be answered with instead of a result.
    fn through_adapter(
        &self,
        request: &LocalRequest<'_>,
        run: &mut dyn FnMut(&Provided<'_>),
    ) -> Result<Went, DispatchError>;

    /// The object of the upcall that the calling thread has been let to, for interceptors.
    fn serving(&self) -> Option<Box<dyn ServedObject>> {
        None
    }

    /// Lets a call to the servant that is active now, without more ado. [`Went::ByWire`] when none is; the
    /// call then goes through the adapter.
    fn direct(&self, run: &mut dyn FnMut(&Provided<'_>)) -> Went {
        let _ = run;
        Went::ByWire
    }
}

/// Where a call within the process has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// To the servant: it has been run.
    Here,
    /// Nowhere yet. A request is to be sent: the adapter cannot let the caller's thread to the servant, as
    /// that is another thread's, or as the caller must not wait.
    ByWire,
}

/// What an adapter has to know of a call within the process.
#[derive(Clone, Copy)]
pub struct LocalRequest<'r> {
    operation: &'r str,
    two_way: bool,
    has_timeout: &'r dyn Fn() -> bool,
}

impl<'r> LocalRequest<'r> {
    /// A call of this operation; `two_way` if somebody waits for its end. `has_timeout` says whether that is for a
    /// time; it is asked where the call would be held back.
    #[must_use]
    pub fn new(operation: &'r str, two_way: bool, has_timeout: &'r dyn Fn() -> bool) -> Self {
        Self {
            operation,
            two_way,
            has_timeout,
        }
    }

    /// The operation's name on the wire.
    #[must_use]
    pub fn operation(&self) -> &'r str {
        self.operation
    }

    /// Whether the caller can be held back until the adapter admits its call. One that does not wait for the
    /// operation's end cannot, nor can one that waits for a time: those go by wire then, where time-outs end them.
    #[must_use]
    pub fn can_be_held(&self) -> bool {
        self.two_way && !(self.has_timeout)()
    }
}

impl fmt::Debug for LocalRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRequest")
            .field("operation", &self.operation)
            .field("two_way", &self.two_way)
            .finish_non_exhaustive()
    }
}
