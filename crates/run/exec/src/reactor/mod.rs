//! Reactor: descriptors with handlers for their events, and deadlines.
//!
//! A registration is a descriptor with its [`Handler`]. Threads share one `epoll` set and wait in
//! it themselves ([`Reactor::run`]), so that the kernel hands over from one to the next. The thread
//! that receives an event becomes the registration's *owner* (`owner`) by one exchange and serves
//! it. Another thread that receives an event meanwhile leaves a note for the owner and waits on.
//! Registrations share no lock on this path.
//!
//! Descriptors are watched edge-triggered: a handler receives each change once, and takes all there
//! is. Work that arises without a change of the descriptor is posted to the reactor's own queue
//! ([`Reactor::nudge`]), which an eventfd in the same set announces to waiting threads; all others
//! look there before they wait. A thread that is the only one to wait takes all events that have
//! occurred, and queues those that it does not serve at once.
//!
//! While other threads wait, one may stay with a registration for a moment, and wait for its next
//! data without the reactor ([`ReadyEvent::may_stay`]): then it shares nothing with the others.
//!
//! One thread may run the reactor (a *reactive* server), many ([`crate::LeaderFollowers`]), or only
//! those that wait for a reply ([`Reactor::run_until`]).

mod nesting;
mod options;
mod owner;
#[cfg(test)]
mod owner_tests;
mod ready_event;
mod registration;
mod serve;
mod state;
mod table;
mod timers;
mod work;

pub use nesting::depth;
pub use options::ReactorOptions;
pub use owner::{Owner, Readiness, Retired};
pub use state::{Handler, Reactor, ReadyEvent, Role};
pub use table::Token;
pub use work::Work;
