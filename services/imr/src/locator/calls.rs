//! Calls to servers and activators, all of them asynchronous.

use std::time::Duration;

use punctual::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind, minor,
};

use super::outcome::Answered;
use crate::implementation_repository::{
    Activator, ActivatorExt, ActivatorStartServerError, ServerObject, StartupOptions,
};

/// Time-out of a call to an activator.
const TO_ACTIVATOR: Duration = Duration::from_secs(10);

/// Reason why a process was not started for a call.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// Its activator says why.
    Refused(String),
    /// There is no activator that can be asked.
    NotAskedFor(String),
}

/// Asks an activator to start a process; `failed` gets the reason if this call certainly has not started it.
pub(super) fn start(
    activator: &ObjectRef,
    name: &str,
    options: &StartupOptions,
    failed: impl FnOnce(NotStarted) + Send + 'static,
) {
    let (command, folder) = (&*options.command_line, &*options.working_directory);
    let activator = Activator::from_object(activator.with_timeout(TO_ACTIVATOR));
    let done = move |done| match done {
        Ok(()) => {}
        Err(ActivatorStartServerError::CannotActivate(why)) => {
            failed(NotStarted::Refused(why.reason));
        }
        // It registers, or the time of the start is up.
        Err(ActivatorStartServerError::System(exception)) if may_have_started(&exception) => {
            tracing::warn!("an activator has not answered in time: {exception}");
        }
        Err(ActivatorStartServerError::System(exception)) => {
            let why = format!("its activator cannot be called: {exception}");
            failed(NotStarted::NotAskedFor(why));
        }
    };
    activator.sendc_start_server(done, name, command, folder, &options.environment);
}

/// Returns whether an activator may have started a process although its answer has not come: a time-out is not the
/// activator's death.
fn may_have_started(exception: &SystemException) -> bool {
    exception.kind() == SystemExceptionKind::Timeout
        && exception.completed() == CompletionStatus::Maybe
}

/// Asks a server whether it lives; `then` gets the answer, or that there is none after some time.
pub(super) fn ping(
    server: &ObjectRef,
    time: Duration,
    then: impl FnOnce(Answered) + Send + 'static,
) {
    ServerObject::from_object(server.with_timeout(time)).sendc_ping(
        move |done: Result<(), SystemException>| {
            then(done.map_or_else(|exception| judged(&exception), |()| Answered::Alive));
        },
    );
}

/// Returns what the exception of a ping says of the server.
fn judged(exception: &SystemException) -> Answered {
    let answered = match exception.kind() {
        SystemExceptionKind::CommFailure | SystemExceptionKind::ObjectNotExist => Answered::Dead,
        SystemExceptionKind::Transient if exception.minor() == minor::CONNECT_FAILED => {
            Answered::Dead
        }
        // It may have answered that, or this process has failed to ask.
        _ => Answered::Silent,
    };
    tracing::debug!("a ping is answered with {exception}: {answered:?}");
    answered
}

/// Asks an activator to send a signal to a process; `then` gets whether the process exists, or why that is not known.
pub(super) fn kill(
    activator: &ObjectRef,
    (name, pid, signal): (&str, i32, i16),
    then: impl FnOnce(Result<bool, String>) + Send + 'static,
) {
    let activator = ActivatorExt::from_object(activator.with_timeout(TO_ACTIVATOR));
    let done = move |done: Result<bool, SystemException>| {
        then(done.map_err(|exception| format!("its activator cannot be called: {exception}")));
    };
    activator.sendc_kill_server(done, name, pid, signal);
}

/// Asks a process to shut its ORB down, without waiting for it.
pub(super) fn end_server(server: &ObjectRef) {
    if let Err(exception) = ServerObject::from_object(server.clone()).shutdown() {
        tracing::debug!("a server that is to end cannot be called: {exception}");
    }
}

/// Asks an activator to end, without waiting for it.
pub(super) fn end_activator(activator: &ObjectRef) {
    if let Err(exception) = Activator::from_object(activator.clone()).shutdown() {
        tracing::debug!("an activator that is to end cannot be called: {exception}");
    }
}
