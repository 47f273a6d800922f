//! Servant with deferred replies: the first octet of a request selects when and how it is answered.

use super::raw::{Answering, LONG};
use super::server;
use punctual::stub::{CdrError, DispatchError, Dispatched, ServerCall};
use punctual::{Interface, SystemException, SystemExceptionKind as Kind};
use punctual_orb::{AnswerError, PendingReply};
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::task::Waker;

/// Upper bound of the unanswered requests that one thread keeps; when it is exceeded, all are
/// answered.
const MOST: usize = 8;

/// First octet of a request whose upcall replies at once before it defers the reply.
const ANSWERS_BEFORE: u8 = 16;

thread_local! {
    static KEPT: RefCell<Vec<(PendingReply, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
}

/// Servant that defers the reply to each request, and then answers with the octets that the request
/// carried.
pub(super) struct Later;

impl Answering for Later {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        for (id, data) in call.contexts().iter() {
            call.set_reply_context(id, data);
        }
        let what = call.arguments().get_u8()?;
        let octets = call.arguments().get_octets()?.to_vec();
        if what == ANSWERS_BEFORE {
            // This reply does not count.
            call.reply(|out| out.put_octets(&octets))?;
        }
        let (pending, dispatched) = call.answer_later()?;
        assert!(!format!("{pending:?}").is_empty());
        match what {
            0 => check_outcome(reply(pending, &octets)),
            1 => drop(pending),
            2 => keep(pending, octets),
            3 => {
                keep(pending, octets);
                settle();
            }
            4 => check_outcome(
                pending
                    .answer(|call| call.raise_as("IDL:later:1.0", |out| out.put_octets(&octets))),
            ),
            5 => check_outcome(pending.answer(|_| {
                let other = server().every.as_object().ior().clone();
                Err(DispatchError::Forward(Box::new(other)))
            })),
            6 => check_outcome(
                pending.answer(|_| Err(Kind::NoResources.because("as the request says").into())),
            ),
            7 => check_outcome(pending.answer(|call| call.reply(|_| Err(CdrError::BadCharacter)))),
            8 => check_outcome(pending.answer(|call| call.reply(|out| out.put_octets(&LONG)))),
            // `resume_unwind` calls no panic hook: libFuzzer's would end the process.
            9 => check_outcome(pending.answer(|_| resume_unwind(Box::new("as the request says")))),
            10 => check_outcome(
                pending.answer(|call| call.reply(|out| out.put_octets(&[what; 5000]))),
            ),
            11 => {
                let is_awaited = pending.watch(Waker::noop());
                assert_eq!(is_awaited, pending.is_awaited());
                pending.hold(Box::new(octets.clone()));
                keep(pending, octets);
            }
            // The upcall fails, but the answer was given before.
            12 => {
                keep(pending, octets);
                return Err(call.bad_operation());
            }
            // Answers twice: the second answer has no effect.
            13 => {
                let (second, _) = call.answer_later()?;
                check_outcome(reply(second, &octets));
                check_outcome(reply(pending, &octets));
            }
            // Returns the proof of another answer, and gives no answer itself.
            14 => {
                let (_second, proof) = call.answer_later()?;
                check_outcome(pending.answer(|_| Ok(proof)));
            }
            // While it is answered, the answer is deferred again.
            15 => check_outcome(pending.answer(|call| match call.answer_later() {
                Ok((again, proof)) => {
                    drop(again);
                    Ok(proof)
                }
                Err(error) => Err(error),
            })),
            ANSWERS_BEFORE => check_outcome(reply(pending, &octets)),
            _ => {
                keep(pending, octets);
                // `resume_unwind` calls no panic hook: libFuzzer's would end the process.
                resume_unwind(Box::new("as the request says"));
            }
        }
        Ok(dispatched)
    }
}

fn reply(pending: PendingReply, octets: &[u8]) -> Result<(), AnswerError> {
    pending.answer(|call| call.reply(|out| out.put_octets(octets)))
}

fn check_outcome(outcome: Result<(), AnswerError>) {
    if let Err(error) = outcome {
        let told = [error.to_string(), SystemException::from(error).to_string()];
        assert!(!told.concat().is_empty());
    }
}

fn keep(pending: PendingReply, octets: Vec<u8>) {
    let kept = KEPT.with_borrow_mut(|kept| {
        kept.push((pending, octets));
        kept.len()
    });
    if kept > MOST {
        settle();
    }
}

/// Answers the requests that the calling thread has kept, the latest first.
pub(super) fn settle() {
    while let Some((pending, octets)) = KEPT.with_borrow_mut(Vec::pop) {
        check_outcome(reply(pending, &octets));
    }
}
