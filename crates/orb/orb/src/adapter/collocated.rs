//! Interface of the object adapter by which callers of the same process reach a servant.

use super::answer::DispatchError;
use super::provided::Provided;
use crate::interceptor::ServedObject;
use std::fmt;

/// An object of this process, as its adapter offers it to callers of this process. Found once for a
/// reference ([`crate::ObjectAdapter::collocated`]) and kept with it: an implementation must not
/// keep its ORB or a servant alive.
///
/// `run` calls the servant on the caller's thread, and is to be run once at most. It may panic, as
/// servants may: the implementation must restore its state (such as Current) in that case, too.
pub trait Collocated: Send + Sync {
    /// Calls the servant through the adapter, as for a request: waits until the POA manager admits
    /// the call, finds or activates the servant, counts the call, and sets Current.
    ///
    /// # Errors
    /// The answer that a request would get in place of a result.
    fn through_adapter(
        &self,
        request: &LocalRequest<'_>,
        run: &mut dyn FnMut(&Provided<'_>),
    ) -> Result<Went, DispatchError>;

    /// Returns the object that the calling thread's upcall serves, for interceptors.
    fn serving(&self) -> Option<Box<dyn ServedObject>> {
        None
    }

    /// Calls the currently active servant by the fast path. Returns [`Went::ByWire`] when no
    /// servant is active; the call then goes through the adapter.
    fn direct(&self, run: &mut dyn FnMut(&Provided<'_>)) -> Went {
        let _ = run;
        Went::ByWire
    }
}

/// Route taken by a call within the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// The servant was called in this process.
    Here,
    /// The servant was not called; a request must be sent. The adapter cannot call the servant on
    /// the caller's thread, as the servant belongs to another thread or the caller must not wait.
    ByWire,
}

/// Description of a call within the process for the adapter.
#[derive(Clone, Copy)]
pub struct LocalRequest<'r> {
    operation: &'r str,
    two_way: bool,
    has_timeout: &'r dyn Fn() -> bool,
}

impl<'r> LocalRequest<'r> {
    /// Describes a call of this operation. `two_way` is true if the caller waits for the operation
    /// to end. `has_timeout` returns `true` if that wait has a time limit; it is called only if the
    /// call would be held back.
    #[must_use]
    pub fn new(operation: &'r str, two_way: bool, has_timeout: &'r dyn Fn() -> bool) -> Self {
        Self {
            operation,
            two_way,
            has_timeout,
        }
    }

    /// Returns the operation's name as used in GIOP requests.
    #[must_use]
    pub fn operation(&self) -> &'r str {
        self.operation
    }

    /// Returns `true` if the caller can be held back until the adapter admits its call. A caller
    /// that does not wait for the operation's end cannot, nor can one with a time-out: those calls
    /// are sent as requests, where time-outs end them.
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
