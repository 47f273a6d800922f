//! The serving side: from a listening endpoint to a reply.
//!
//! [`listen`] accepts, a thread a connection, or those of a reactor ([`concurrency`]), receive whole messages
//! ([`receive`], [`watch`]), [`dispatch`] reads
//! each request's header and lets the object adapter answer, [`reply`] marshals what it says.

mod code_sets;
mod concurrency;
mod dispatch;
mod listen;
mod memory;
mod panics;
mod publish;
mod receive;
mod reply;
mod send;
mod watch;

pub(crate) use listen::Listening;
pub(crate) use panics::panicked;
pub use reply::{Dispatched, ServerCall};

use crate::collocation;
use crate::messaging::FrameArrival;
use crate::orb::Orb;
use concurrency::OnReactor;
use punctual_exec::{MainThreadQueue, Refused};
use receive::ServerConnection;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    /// The connections that this thread serves, innermost last: more than one where it serves another
    /// while an upcall waits for its own call's reply.
    static SERVED: RefCell<Vec<Served>> = const { RefCell::new(Vec::new()) };
}

struct Served {
    connection: Arc<ServerConnection>,
    /// Whether it is in an upcall of that connection's.
    in_upcall: bool,
    /// Whether another thread receives there meanwhile.
    handed_over: bool,
    /// What a reactor's thread has in hand there.
    mark: u64,
    /// How the upcall's request has arrived, where that is known.
    arrival: Option<FrameArrival>,
}

/// Whether the calling thread is in an upcall of this ORB, by a request or without one.
pub(crate) fn in_upcall_of(orb: &Orb) -> bool {
    let by_request = SERVED.with_borrow(|served| {
        let mut upcalls = served.iter().filter(|one| one.in_upcall);
        upcalls.any(|one| one.connection.orb.is_same(orb))
    });
    by_request || collocation::in_upcall_of(orb)
}

/// Whether the calling thread is in an upcall by a request. For whoever may run at any time: a panic's hook.
fn in_upcall() -> bool {
    let is_in = |served: &RefCell<Vec<Served>>| {
        served
            .try_borrow()
            .is_ok_and(|served| served.iter().any(|one| one.in_upcall))
    };
    SERVED.try_with(is_in).unwrap_or(false)
}

/// How the request that the calling thread serves has arrived, in a messaging protocol that numbers its
/// frames: what was lost before it, whether it is late. `None` outside of such an upcall.
#[must_use]
pub fn frame_arrival() -> Option<FrameArrival> {
    SERVED.with_borrow(|served| {
        let innermost = served.last().filter(|one| one.in_upcall);
        innermost.and_then(|one| one.arrival)
    })
}

/// To be called before a thread blocks for a reply: if it is in an upcall, another thread receives on
/// that upcall's connection from now on. How long it may block at most, where others of this ORB may need
/// it: a reactor's thread.
#[inline]
pub(crate) fn about_to_block() -> Option<Duration> {
    SERVED.with_borrow_mut(|served| {
        let innermost = served.last_mut().filter(|one| one.in_upcall)?;
        if !innermost.handed_over {
            innermost.handed_over = true;
            receive::hand_over(&innermost.connection, innermost.mark);
        }
        let connection = &innermost.connection;
        let is_shared = connection.on_reactor().is_some();
        let bound = connection.orb.config().timeouts.nested_call;
        bound.filter(|_| is_shared)
    })
}

/// Whether the calling thread serves a request and is the only one that serves requests there (reactive
/// endpoints), so that it must not wait for what another request may bring. For adapters.
#[must_use]
pub fn serves_alone() -> bool {
    SERVED.with_borrow(|served| {
        let innermost = served.last().filter(|one| one.in_upcall);
        let on = innermost.and_then(|one| one.connection.on_reactor());
        on.is_some_and(OnReactor::is_served_alone)
    })
}

/// Has the main thread do what the calling one would, for the request that it serves: another thread receives
/// on that request's connection meanwhile.
pub(crate) fn on_main_thread<R: Send>(
    errands: &MainThreadQueue,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Refused> {
    if errands.is_main_thread() {
        return Ok(work());
    }
    about_to_block();
    let connection = SERVED.with_borrow(|served| {
        let innermost = served.last().filter(|one| one.in_upcall);
        innermost.map(|one| one.connection.clone())
    });
    errands.call(move || {
        let _serving = connection.map(Serving::for_another);
        work()
    })
}

/// Whether a thread that is about to block is in an upcall and more has been received on that upcall's
/// connection, which it keeps from being served. What still waits to be received shows when the call
/// takes long: to look for it would be a system call for each.
pub(crate) fn is_wanted_elsewhere() -> bool {
    SERVED.with_borrow(|served| {
        let innermost = served
            .last()
            .filter(|one| one.in_upcall && !one.handed_over);
        innermost.is_some_and(|one| one.connection.has_received_more())
    })
}

/// Marks the calling thread as one that serves a connection, until dropped.
struct Serving {
    /// Why requests are not served, if they are not.
    refuses: Option<Refusal>,
}

/// Why a thread refuses requests (TRANSIENT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// All threads that could serve them are held up.
    AllBusy,
    /// Too many upcalls are under way on it, one within the other.
    TooDeep,
}

/// Marks it as in an upcall of the connection that it serves, until dropped.
struct Upcall<'s>(std::marker::PhantomData<&'s Serving>);

impl Serving {
    fn enter(connection: Arc<ServerConnection>) -> Self {
        Self::enter_refusing(connection, None)
    }

    fn enter_refusing(connection: Arc<ServerConnection>, refuses: Option<Refusal>) -> Self {
        SERVED.with_borrow_mut(|served| {
            served.push(Served {
                connection,
                in_upcall: false,
                handed_over: false,
                mark: 0,
                arrival: None,
            });
        });
        Self { refuses }
    }

    /// In an upcall whose request another thread has received, which sees to its connection.
    fn for_another(connection: Arc<ServerConnection>) -> Self {
        SERVED.with_borrow_mut(|served| {
            served.push(Served {
                connection,
                in_upcall: true,
                handed_over: true,
                mark: 0,
                arrival: None,
            });
        });
        Self { refuses: None }
    }

    /// Notes what a reactor's thread has in hand.
    #[inline]
    fn has_in_hand(&self, mark: u64) {
        SERVED.with_borrow_mut(|served| {
            if let Some(innermost) = served.last_mut() {
                innermost.mark = mark;
            }
        });
    }

    #[inline]
    fn upcall(&self, arrival: Option<FrameArrival>) -> Upcall<'_> {
        SERVED.with_borrow_mut(|served| {
            if let Some(innermost) = served.last_mut() {
                innermost.in_upcall = true;
                innermost.handed_over = false;
                // Most protocols number no frames.
                if arrival.is_some() || innermost.arrival.is_some() {
                    innermost.arrival = arrival;
                }
            }
        });
        Upcall(std::marker::PhantomData)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Dropped outside of the borrow: it may be the connection's last owner.
        let _served = SERVED.with_borrow_mut(Vec::pop);
    }
}

impl Drop for Upcall<'_> {
    #[inline]
    fn drop(&mut self) {
        SERVED.with_borrow_mut(|served| {
            if let Some(innermost) = served.last_mut() {
                innermost.in_upcall = false;
            }
        });
    }
}
