//! The serving side: from a listening endpoint to a reply.
//!
//! [`listen`] accepts, a thread a connection receives whole messages ([`receive`], [`watch`]), [`dispatch`] reads
//! each request's header and lets the object adapter answer, [`reply`] marshals what it says.

mod dispatch;
mod listen;
mod publish;
mod receive;
mod reply;
mod watch;

pub(crate) use listen::Listening;
pub use reply::{Dispatched, ServerCall};

use crate::messaging::FrameArrival;
use crate::orb::Orb;
use receive::ServerConnection;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The upcalls this thread is in, innermost last.
    static UPCALLS: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

struct Entered {
    connection: Arc<ServerConnection>,
    handed_over: bool,
    arrival: Option<FrameArrival>,
}

/// Whether the calling thread is in an upcall of this ORB.
pub(crate) fn in_upcall_of(orb: &Orb) -> bool {
    UPCALLS.with_borrow(|upcalls| upcalls.iter().any(|one| one.connection.orb.is_same(orb)))
}

/// How the request that the calling thread serves has arrived, in a messaging protocol that numbers its
/// frames: what was lost before it, whether it is late. `None` outside of such an upcall.
#[must_use]
pub fn frame_arrival() -> Option<FrameArrival> {
    UPCALLS.with_borrow(|upcalls| upcalls.last().and_then(|upcall| upcall.arrival))
}

/// To be called before a thread blocks for a reply: if it is in an upcall, another thread receives on
/// that upcall's connection from now on.
pub(crate) fn about_to_block() {
    UPCALLS.with_borrow_mut(|upcalls| {
        if let Some(innermost) = upcalls.last_mut().filter(|upcall| !upcall.handed_over) {
            innermost.handed_over = true;
            receive::hand_over(&innermost.connection);
        }
    });
}

/// Whether a thread that is about to block is in an upcall and more has been received on that upcall's
/// connection, which it keeps from being served. What still waits to be received shows when the call
/// takes long: to look for it would be a system call for each.
pub(crate) fn is_wanted_elsewhere() -> bool {
    UPCALLS.with_borrow(|upcalls| {
        let innermost = upcalls.last().filter(|upcall| !upcall.handed_over);
        innermost.is_some_and(|upcall| upcall.connection.has_received_more())
    })
}

/// Marks the calling thread as in an upcall until dropped.
struct Upcall;

impl Upcall {
    fn enter(connection: Arc<ServerConnection>, arrival: Option<FrameArrival>) -> Self {
        UPCALLS.with_borrow_mut(|all| {
            all.push(Entered {
                connection,
                handed_over: false,
                arrival,
            })
        });
        Self
    }
}

impl Drop for Upcall {
    fn drop(&mut self) {
        // The entry is dropped outside of the borrow: it may be the connection's last owner.
        let _entered = UPCALLS.with_borrow_mut(Vec::pop);
    }
}
