//! Hand-over of an answer to a caller in this process that waits for it.

use parking_lot::{Condvar, Mutex};
use punctual_orb::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, about_to_block, minor,
};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Slot for one answer, shared by the answering and the waiting side.
struct AnswerSlot<R, E> {
    answer: Mutex<Answer<R, E>>,
    given: Condvar,
}

enum Answer<R, E> {
    Awaited,
    Given(Result<R, E>),
    /// The answer will never be given; the caller gets this exception.
    Abandoned(SystemException),
}

/// Answering side of the slot for the answer to a collocated call.
pub(super) struct Here<R, E>(Arc<AnswerSlot<R, E>>);

/// Waiting side of the slot for the answer to a collocated call.
pub(super) struct Waiter<R, E>(Arc<AnswerSlot<R, E>>);

/// Makes the answering and the waiting side of a new slot.
pub(super) fn pair<R, E>() -> (Here<R, E>, Waiter<R, E>) {
    let place = Arc::new(AnswerSlot {
        answer: Mutex::new(Answer::Awaited),
        given: Condvar::new(),
    });
    (Here(place.clone()), Waiter(place))
}

impl<R, E> Here<R, E> {
    pub(super) fn answer(self, result: Result<R, E>) {
        self.give(Answer::Given(result));
    }

    fn give(&self, answer: Answer<R, E>) {
        let mut place = self.0.answer.lock();
        if matches!(*place, Answer::Awaited) {
            *place = answer;
        }
        drop(place);
        self.0.given.notify_all();
    }
}

impl<R, E> Drop for Here<R, E> {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) == 1 {
            // The caller waits no longer.
            return;
        }
        self.give(Answer::Abandoned(match thread::panicking() {
            true => SystemException::new(
                Kind::Unknown,
                minor::SERVANT_PANICKED,
                CompletionStatus::Maybe,
            )
            .with_detail("the servant panicked before it had answered"),
            false => SystemException::new(
                Kind::NoResponse,
                minor::NOT_ANSWERED,
                CompletionStatus::Maybe,
            )
            .with_detail("the servant dropped the call without answering"),
        }));
    }
}

impl<R, E: From<SystemException>> Waiter<R, E> {
    /// Waits for the answer. A thread that serves requests first lets another thread take over that
    /// work; a thread whose blocking could stall other calls waits no longer than
    /// `timeouts.nested_call`.
    pub(super) fn wait(self) -> Result<R, E> {
        let mut answer = self.0.answer.lock();
        if matches!(*answer, Answer::Awaited) {
            drop(answer);
            let until = about_to_block().and_then(|longest| Instant::now().checked_add(longest));
            answer = self.0.answer.lock();
            while matches!(*answer, Answer::Awaited) {
                match until {
                    None => self.0.given.wait(&mut answer),
                    Some(until) => {
                        if self.0.given.wait_until(&mut answer, until).timed_out() {
                            break;
                        }
                    }
                }
            }
        }
        match std::mem::replace(&mut *answer, Answer::Awaited) {
            Answer::Given(result) => result,
            Answer::Abandoned(exception) => Err(exception.into()),
            Answer::Awaited => Err(too_long().into()),
        }
    }
}

fn too_long() -> SystemException {
    SystemException::new(
        Kind::Timeout,
        minor::CALL_TIMED_OUT,
        CompletionStatus::Maybe,
    )
    .with_detail("the servant has not answered within timeouts.nested_call")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Result<R> = std::result::Result<R, SystemException>;

    #[test]
    fn an_answer_given_before_or_while_it_is_waited_for_is_the_callers() {
        let (here, waiter) = pair::<i32, SystemException>();
        here.answer(Ok(3));
        assert_eq!(waiter.wait(), Ok(3));
        let (here, waiter) = pair();
        let answers = thread::spawn(move || here.answer(Result::Ok(4)));
        assert_eq!(waiter.wait(), Ok(4));
        answers.join().unwrap();
    }

    #[test]
    fn one_that_is_dropped_or_lost_in_a_panic_ends_the_wait() {
        let (here, waiter) = pair::<i32, SystemException>();
        drop(here);
        assert_eq!(waiter.wait().unwrap_err().kind(), Kind::NoResponse);
        let (here, waiter) = pair::<i32, SystemException>();
        let panics = thread::spawn(move || {
            let _here = here;
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
        assert_eq!(waiter.wait().unwrap_err().kind(), Kind::Unknown);
    }
}
