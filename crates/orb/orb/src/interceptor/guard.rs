//! Guard around calls of an application's interceptors: it converts a panic to an exception.

use super::error::InterceptorError;
use super::named::Named;
use super::outcome::Outcome;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Calls an interceptor; converts a panic to the exception UNKNOWN.
pub(super) fn guarded(
    (name, point): (&str, &'static str),
    call: impl FnOnce() -> Result<(), InterceptorError>,
) -> Result<(), InterceptorError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|payload| Err(panicked(name, point, &*payload).into()))
}

/// Calls one interceptor after the other, until one raises an exception or panics; a panic becomes
/// the exception UNKNOWN. One guard is around all of them, so that another interceptor costs little
/// more than its call.
///
/// # Errors
/// The exception of the last interceptor that was called.
pub(super) fn each_guarded<'i, I: ?Sized + Named + 'i>(
    interceptors: impl Iterator<Item = &'i Arc<I>>,
    point: &'static str,
    mut call: impl FnMut(&'i I) -> Result<(), InterceptorError>,
) -> Result<(), InterceptorError> {
    let mut called = None;
    let all = AssertUnwindSafe(|| {
        for interceptor in interceptors {
            called = Some(&**interceptor);
            call(interceptor)?;
        }
        Ok(())
    });
    catch_unwind(all).unwrap_or_else(|payload| {
        let name = called.map_or("", |interceptor| interceptor.name());
        Err(panicked(name, point, &*payload).into())
    })
}

#[cold]
fn panicked(name: &str, point: &'static str, payload: &(dyn Any + Send)) -> SystemException {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("(no text)");
    tracing::error!(
        interceptor = name,
        point,
        panic = text,
        "an interceptor panicked"
    );
    SystemException::new(
        Kind::Unknown,
        minor::INTERCEPTOR_PANICKED,
        CompletionStatus::No,
    )
    .with_detail(format!("an interceptor panicked in `{point}`"))
}

/// Returns the outcome that an interceptor's error makes of a request. `of` is the outcome so far,
/// `None` at a starting point.
pub(super) fn instead(of: Option<&Outcome>, raised: InterceptorError) -> Outcome {
    match raised {
        InterceptorError::System(exception) => {
            let completed = of.map_or(CompletionStatus::No, Outcome::completion);
            Outcome::System(exception.completed_as(completed))
        }
        InterceptorError::ForwardRequest(to) => Outcome::Forward(to),
    }
}
