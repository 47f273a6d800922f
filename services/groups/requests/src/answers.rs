//! Answers to requests that are run later: a thread gives them, which may have to wait for clients that do not read.

use std::io;
use std::sync::mpsc::{self, Sender};

use punctual::SystemException;
use punctual::asynchronous::PendingReply;
use punctual_exec::thread::ThreadSpec;

use crate::requests::Request;
use crate::runner::Outcome;

/// Request, with its client, if that waits for a reply.
pub(crate) type Waiting = (Request, Option<PendingReply>);

/// Answer to a request.
pub type Answer = (PendingReply, Outcome);

/// Starts the thread that gives answers. It ends with the sender.
///
/// # Errors
/// The reason why no thread can be started.
pub fn start_answering() -> io::Result<Sender<Answer>> {
    let (send, receive) = mpsc::channel::<Answer>();
    ThreadSpec::named("group-answer")
        .start(move || {
            for (pending, outcome) in receive {
                answer(pending, outcome);
            }
        })
        .map_err(io::Error::other)?;
    Ok(send)
}

fn answer(pending: PendingReply, outcome: Outcome) {
    let reply = match outcome {
        Ok(reply) => reply,
        Err(exception) => return refuse(pending, exception),
    };
    let _has_gone = pending.answer(|call| reply.answer(call));
}

/// Answers a request with an exception.
pub fn refuse(pending: PendingReply, exception: SystemException) {
    let _has_gone = pending.answer(|_| Err(exception.into()));
}
