//! Additional work of a reactor's threads, in addition to events.

/// Work for the threads of a reactor that does not arrive as an event: the threads serve the events
/// at hand, then do a piece of work, and wait when there is none.
pub trait Work: Send + Sync {
    /// Returns whether work waits to be done by a thread of the reactor.
    fn is_waiting(&self) -> bool;

    /// Does the next piece of work if there is one; returns whether there was. A panic ends the
    /// piece, and nothing else.
    fn do_next(&self) -> bool;
}
