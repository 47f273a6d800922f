//! The seam to the object adapter: how a caller of this process gets to a servant.

use super::answer::DispatchError;
use super::provided::Provided;

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
#[derive(Clone, Copy, Debug)]
pub struct LocalRequest<'r> {
    operation: &'r str,
    two_way: bool,
}

impl<'r> LocalRequest<'r> {
    /// A call of this operation; `two_way` if somebody waits for its end.
    #[must_use]
    pub fn new(operation: &'r str, two_way: bool) -> Self {
        Self { operation, two_way }
    }

    /// The operation's name on the wire.
    #[must_use]
    pub fn operation(&self) -> &'r str {
        self.operation
    }

    /// Whether the caller waits for the operation's end. One that does not must not be held back either: if
    /// it would be, it goes by wire.
    #[must_use]
    pub fn is_two_way(&self) -> bool {
        self.two_way
    }
}
