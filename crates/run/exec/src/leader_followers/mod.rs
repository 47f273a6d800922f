//! Leader/Followers (Schmidt et al. 2001, §5; Gokhale and Schmidt 1998, §4): threads that share a
//! reactor, and threads that wait for the events it delivers.
//!
//! The kernel promotes: all threads of a pool wait in the reactor's `epoll` set, and an event wakes
//! one of them, which serves it itself. No queue and no second thread lies on an event's path.
//! Threads that wait for a reply are their followers (`leadership`).

mod growth;
mod leadership;
mod pool;
mod reserve;
mod wait;
mod wakeup;
mod workers;

pub use leadership::{Leadership, Notify, Waiter};
pub use pool::{LeaderFollowers, PoolOptions};
pub use reserve::{Borrow, ReserveOptions};
pub use wait::Waited;
pub use wakeup::{ThreadEvent, Wakeup};
