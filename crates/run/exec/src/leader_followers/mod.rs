//! Leader/Followers (Schmidt et al. 2001, §5; Gokhale and Schmidt 1998, §4): threads that share a reactor, and threads that wait for what
//! it brings.
//!
//! The kernel is the one that promotes: all threads of a pool wait in the reactor's `epoll` set, and an
//! event wakes one of them, which serves it itself. There is no queue and no second thread on an event's
//! way. Threads that wait for a reply follow those (`leadership`).

mod leadership;
mod pool;
mod reserve;
mod wait;

pub use leadership::{Leadership, Notify, Waiter};
pub use pool::{LeaderFollowers, PoolOptions};
pub use reserve::{Borrow, ReserveOptions};
pub use wait::{ThreadEvent, Waited, Wakeup};
