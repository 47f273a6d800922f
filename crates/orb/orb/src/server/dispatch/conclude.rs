//! Sending of answers to requests.

use super::Dispatcher;
use crate::adapter::DispatchError;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::server::call::{Answer, ServerCall};
use crate::server::recorded_request::RecordedRequest;
use punctual_exec::Quoted;

impl Dispatcher<'_> {
    /// Sends the answer to a call, if its caller waits for one.
    #[inline(always)]
    pub(super) fn conclude(
        &self,
        call: &ServerCall<'_>,
        answer: Answer,
        seen: Option<RecordedRequest>,
    ) {
        self.send_answer(call, answer);
        if let Some(seen) = seen {
            seen.record_answered();
        }
    }

    #[inline(always)]
    fn send_answer(&self, call: &ServerCall<'_>, answer: Answer) {
        match answer {
            Answer::Given => match call.reply_made() {
                Some(reply) => self.connection.send_or_delay(reply),
                None => self.conclude_without_reply(call),
            },
            Answer::Failed(error) => self.fail(call, &error),
        }
    }

    /// Finishes a call without sending a reply, usually a one-way.
    #[inline(never)]
    fn conclude_without_reply(&self, call: &ServerCall<'_>) {
        if call.is_owed_an_answer() {
            self.fail(call, &unanswered());
        }
    }

    #[cold]
    fn fail(&self, call: &ServerCall<'_>, error: &DispatchError) {
        if let DispatchError::System(exception) = error {
            self.note(call.operation(), exception);
        }
        if let Some(reply) = call.fail(error) {
            self.connection.send(&reply);
        }
    }

    /// Logs the exception with which a request was answered: as a complaint about the peer if the
    /// peer is at fault, or if a call that the servant itself made was not sent or lost its
    /// connection; otherwise at debug level, because the servant may have raised the exception.
    fn note(&self, operation: &str, exception: &SystemException) {
        let operation = Quoted(operation);
        match exception.kind() {
            Kind::Marshal
            | Kind::BadOperation
            | Kind::ObjectNotExist
            | Kind::CodesetIncompatible
            | Kind::DataConversion => {
                self.conversation()
                    .complain(&format!("`{operation}` is answered with {exception}"));
            }
            // The peer hears the minor code alone.
            _ if is_of_own_call(exception.minor()) => {
                self.conversation().complain(&format!(
                    "`{operation}` is answered with the exception of a call that its servant made: {exception}"
                ));
            }
            _ => {
                tracing::debug!(peer = %self.conversation().peer(), "`{operation}` is answered with {exception}")
            }
        }
    }
}

/// Returns `true` for minor codes that only a client raises: its call was not sent, or its connection
/// broke.
fn is_of_own_call(code: u32) -> bool {
    matches!(
        code,
        minor::CONNECT_FAILED
            | minor::CONNECT_TIMED_OUT
            | minor::SEND_FAILED
            | minor::RECEIVE_FAILED
            | minor::NO_PROTECTED_ENDPOINT
    )
}

/// Returns the exception for a servant that has not answered its call and returns the token of
/// another call's answer.
#[cold]
fn unanswered() -> DispatchError {
    SystemException::new(
        Kind::Internal,
        minor::BROKEN_INVARIANT,
        CompletionStatus::Maybe,
    )
    .with_detail("the servant has not answered")
    .into()
}
