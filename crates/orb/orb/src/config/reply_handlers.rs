//! Threads that run reply handlers: `reply_handlers`.

/// Threads that run the reply handlers of asynchronous calls. A lane of Real-time CORBA, which has
/// a priority, always runs its handlers on its own thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReplyHandlers {
    /// Dedicated thread that reads replies, named `punctual-replies`.
    #[default]
    Thread,
    /// The main thread, in `Orb::run`, `Orb::run_for` or `Orb::perform_work`. Handlers that it has
    /// not run by the shutdown are run by the thread that reads replies, or by the one that shuts
    /// down.
    Run,
    /// The main thread as with [`ReplyHandlers::Run`], which also reads the replies itself: no other
    /// thread is started or woken. While no thread is in these functions or in `Orb::block_on`, no
    /// handler is called, no future completes, no time-out of either is noticed, and no callback over
    /// a client's own connection is served. From the shutdown on a thread reads what still comes.
    Reactor,
    /// A thread that is blocked in a synchronous call on the same connection, and otherwise the
    /// thread that reads replies. So handlers run **within** a synchronous call of any thread: the
    /// calling thread must not hold a lock that a handler takes.
    Callers,
}
