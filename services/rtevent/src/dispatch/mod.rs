//! Dispatching: the threads on which consumers receive events.
//!
//! ```text
//! dispatcher  the interface of strategies with threads: levels and tasks
//! workers     threads that run tasks, the most urgent first
//! threads     strategy: threads of their own for each level
//! pool        strategy: threads for all levels
//! lanes       strategy: lanes of Real-time CORBA
//! slow        their lane of slow consumers
//! link        the consumer's end: it pushes, counts, and counts failures
//! queue       events that wait for one consumer at one level, without threads
//! mailbox     a queue that is a task while it holds events
//! ```
//!
//! Reactive dispatching needs none of these but `link`.

mod dispatcher;
mod lanes;
mod link;
mod mailbox;
mod pool;
mod queue;
mod slow;
mod threads;
mod workers;

pub use dispatcher::{Dispatcher, Task};
pub use lanes::{LaneStatus, LaneThreads, Lanes, LanesOptions};
pub use pool::{Pool, PoolOptions};
pub use slow::SlowOptions;
pub use threads::{Threads, ThreadsOptions};

pub(crate) use link::{Link, Owner, caught};
pub(crate) use mailbox::{Mailbox, Unit, age};
pub(crate) use workers::{Growth, Lane, Staffing, Workers};
