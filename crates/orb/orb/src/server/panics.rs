//! Panics of servants: told to the caller as UNKNOWN, and to the log in one event, with where and by which
//! way they came about.
//!
//! Only a panic's hook can see that way: by the time that a panic is caught, the stack is gone. A hook is
//! installed once for the process, when an ORB first listens. For a thread that is in an upcall it keeps
//! message, place and backtrace for whoever catches the panic; everything else, and what would be lost
//! otherwise, goes to the hook that was there before: panics of other threads, a second one that comes before
//! the first was reported (it may abort the process), and all of them where nobody listens to the log. A
//! servant that catches a panic itself thus has it kept unreported, until its next one replaces it.
//!
//! A hook that the application installs later, and that does not call the one before it, leaves only the
//! message that the panic itself carries.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::upcall;
use punctual_exec::Quoted;
use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fmt;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

/// What a hook has seen of a panic.
#[derive(Debug)]
struct Seen {
    message: String,
    /// File, line and column.
    place: String,
    backtrace: Backtrace,
}

thread_local! {
    static SEEN: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

static INSTALLED: Once = Once::new();

/// Has panics in upcalls kept from now on.
pub(super) fn keep() {
    // Where a panic ends the process nobody catches it, and only the hook before would show it.
    if cfg!(panic = "unwind") {
        INSTALLED.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !keep_one(info) {
                    before(info);
                }
            }));
        });
    }
}

/// Keeps a panic, if that is all that has to be done about it.
fn keep_one(info: &PanicHookInfo<'_>) -> bool {
    let in_upcall = upcall::in_upcall();
    if !in_upcall || !tracing::enabled!(tracing::Level::ERROR) {
        return false;
    }
    let seen = Seen {
        message: message(info.payload()).to_owned(),
        place: info.location().map(ToString::to_string).unwrap_or_default(),
        backtrace: Backtrace::force_capture(),
    };
    let kept = SEEN.try_with(|kept| kept.try_borrow_mut().map(|mut kept| kept.replace(seen)));
    matches!(kept, Ok(Ok(None)))
}

/// Logs the panic of a servant that has been caught, with what the hook has kept of it, and says what its
/// caller is told.
#[cold]
pub(crate) fn panicked(
    caller: &dyn fmt::Display,
    operation: &str,
    payload: &(dyn Any + Send),
) -> SystemException {
    let operation = Quoted(operation);
    let seen = SEEN.try_with(RefCell::take).ok().flatten();
    match seen {
        Some(seen) => tracing::error!(
            peer = %caller,
            panic = ?seen.message,
            at = %seen.place,
            backtrace = %seen.backtrace,
            "the servant panicked in `{operation}`"
        ),
        None => tracing::error!(
            peer = %caller,
            panic = ?message(payload),
            "the servant panicked in `{operation}`"
        ),
    }
    SystemException::new(
        Kind::Unknown,
        minor::SERVANT_PANICKED,
        CompletionStatus::Maybe,
    )
    .with_detail("the servant panicked")
}

/// What a panic says, if it is text.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
