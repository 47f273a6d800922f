//! Connections for a band of priorities (Real-time CORBA 1.2, §5.12): the server learns the band
//! before anything else is sent on the connection.
//!
//! When several calls meet on a new connection, each announces the band. The announcement is
//! idempotent, so no call has to wait for the reply to another call's announcement.

use super::complete::{Completion, wait, without_reply};
use super::failure::{Failed, Failure, too_many_calls};
use super::outcome::{Reply, ReplyOutcome};
use super::remote::Callee;
use super::route::Route;
use super::send;
use super::write::{Ask, NewMessage};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use crate::lane::Binding;
use crate::operation::NamedOperation;
use crate::policy::invalid;
use crate::priorities::BIND_PRIORITY_BAND;
use crate::priority::Priority;
use punctual_exec::Deadline;
use punctual_giop::AddressingDisposition;
use punctual_giop::service_context::RT_CORBA_PRIORITY_RANGE;
use std::ops::RangeInclusive;

impl Route {
    /// Announces the band of priorities on a connection, unless that was done before.
    pub(super) fn bind_to_band(
        &self,
        callee: &Callee<'_>,
        binding: Binding,
        band: &RangeInclusive<Priority>,
        deadline: Deadline,
    ) -> Result<Binding, Failure> {
        let connection = &binding.connection;
        // A protocol without service contexts, or without replies, cannot carry the announcement.
        // The connection is the band's own nonetheless.
        let can_say_it = connection.carries_contexts() && connection.wire.abilities.two_way;
        if connection.announced.is_bound_to_band() || !can_say_it {
            return Ok(binding);
        }
        let asked = self.ask_for_band(callee, &binding, band, deadline);
        let refused = match asked.map_err(Failed::exception) {
            // The endpoints that the object has moved to get the announcement when they are bound.
            Ok(ReplyOutcome::Forward { .. }) => return Ok(binding),
            Ok(ReplyOutcome::SystemException(exception)) if is_unknown(&exception) => {
                tracing::debug!(
                    peer = %connection.peer(),
                    "the server does not support priority bands ({exception}); the connection still serves this band only"
                );
                None
            }
            Ok(ReplyOutcome::SystemException(exception)) => Some(refused(band, exception)),
            Ok(_) => None,
            Err(exception) => Some(exception),
        };
        match refused {
            None => {
                connection.announced.record_band();
                Ok(binding)
            }
            // The call has not begun. The next one begins with a fresh connection.
            Some(exception) => {
                connection.leave_pool();
                let not_begun = exception.completed_as(CompletionStatus::No);
                Err(Failure::Raised(not_begun))
            }
        }
    }

    fn ask_for_band(
        &self,
        callee: &Callee<'_>,
        binding: &Binding,
        band: &RangeInclusive<Priority>,
        deadline: Deadline,
    ) -> Result<ReplyOutcome, Failed> {
        let connection = &binding.connection;
        let priorities = callee.broker().priorities.as_ref();
        let range = priorities.map_or_else(Vec::new, |known| known.range(band));
        let contexts = vec![(RT_CORBA_PRIORITY_RANGE, range)];
        let new_message = NewMessage {
            callee: *callee,
            binding,
            route: self,
            contexts: &contexts,
            is_intercepted: false,
            addressing: AddressingDisposition::Key,
            announces_code_sets: connection.announced.must_tell_code_sets(),
            waits: false,
        };
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let operation = NamedOperation::two_way(BIND_PRIORITY_BAND);
        let ask = Ask::Request {
            operation: &operation,
            arguments: &|_| Ok(()),
        };
        let mut request = new_message.message(ask, pending.id())?;
        send::send(connection, &mut request, true, deadline)?;
        if new_message.announces_code_sets {
            connection.announced.record_code_sets_told();
        }
        let waited = wait(connection, &pending, Completion::Reply, deadline);
        let reply = waited.map_err(|why| without_reply(connection, &pending, why, deadline))?;
        Reply::read(reply, connection, *callee)
    }
}

/// Returns whether the exception only says that the server does not know the announcement's
/// operation or its object. The call itself will show whether the object exists.
fn is_unknown(exception: &SystemException) -> bool {
    matches!(
        exception.kind(),
        Kind::BadOperation | Kind::NoImplement | Kind::ObjectNotExist
    )
}

/// Returns the exception of a call whose band the server does not serve: INV_POLICY if the server
/// refused the band.
#[cold]
fn refused(band: &RangeInclusive<Priority>, exception: SystemException) -> SystemException {
    let (low, high) = (band.start(), band.end());
    match exception.kind() {
        Kind::InvPolicy | Kind::NoPermission | Kind::DataConversion | Kind::BadParam => {
            invalid(format!(
                "the server does not serve the band of priorities {low} to {high}: {exception}"
            ))
        }
        _ => exception.in_context(format_args!(
            "asking for the band of priorities {low} to {high}"
        )),
    }
}
