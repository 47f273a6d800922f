//! Calls that may not be sent, or return, before a time (CORBA 3.3 part 2, §22.2.4:
//! RequestStartTime, ReplyStartTime).
//!
//! As there are no routers that could queue messages between client and server, the calling thread
//! waits.

use crate::upcall;
use punctual_exec::Deadline;

/// Waits until `start`. Returns `false` at once if `deadline` is earlier than `start`.
#[cold]
pub(super) fn wait(start: Deadline, deadline: Deadline) -> bool {
    if start.has_passed() {
        return true;
    }
    if deadline != Deadline::NEVER && start.earlier(deadline) == deadline {
        return false;
    }
    upcall::about_to_block();
    while let Some(left) = start.remaining().filter(|left| !left.is_zero()) {
        std::thread::sleep(left);
    }
    true
}
