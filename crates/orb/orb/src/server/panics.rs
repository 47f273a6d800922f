//! Panics of servants: reported to the caller as UNKNOWN, and to the log in one event, with
//! location and backtrace.
//!
//! Only a panic hook can see the backtrace: by the time that a panic is caught, the stack is gone.
//! A hook is installed once for the process, when an ORB first listens. For a thread that is in an
//! upcall it keeps message, location and backtrace for the code that catches the panic. Other
//! panics are passed to the previous hook: those on other threads, a second panic that occurs
//! before the first was reported (it may abort the process), and all panics if the log has no
//! subscriber. If a servant catches a panic itself, the kept record stays unreported until its next
//! panic replaces it.
//!
//! If the application later installs a hook that does not call the previous one, only the message
//! in the panic itself is available.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::upcall;
use punctual_exec::Quoted;
use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fmt;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

/// Record of a panic in an upcall, made by the panic hook.
#[derive(Debug)]
struct PanicRecord {
    message: String,
    /// File, line and column where the panic occurred.
    place: String,
    backtrace: Backtrace,
}

thread_local! {
    static SEEN: RefCell<Option<PanicRecord>> = const { RefCell::new(None) };
}

static INSTALLED: Once = Once::new();

/// Installs the hook that records panics in upcalls.
pub(super) fn keep() {
    // If a panic ends the process, no code catches it, and only the previous hook would report it.
    if cfg!(panic = "unwind") {
        INSTALLED.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !keep_record(info) {
                    before(info);
                }
            }));
        });
    }
}

/// Records a panic; returns `false` if the previous hook must handle it.
fn keep_record(info: &PanicHookInfo<'_>) -> bool {
    let in_upcall = upcall::in_upcall();
    if !in_upcall || !tracing::enabled!(tracing::Level::ERROR) {
        return false;
    }
    let seen = PanicRecord {
        message: message(info.payload()).to_owned(),
        place: info.location().map(ToString::to_string).unwrap_or_default(),
        backtrace: Backtrace::force_capture(),
    };
    let kept = SEEN.try_with(|kept| kept.try_borrow_mut().map(|mut kept| kept.replace(seen)));
    matches!(kept, Ok(Ok(None)))
}

/// Logs a servant's panic that has been caught, with its record, and returns the exception for the
/// caller.
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

/// Returns the message of a panic, if it is text.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
