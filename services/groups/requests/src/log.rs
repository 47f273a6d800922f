//! The log of a member's requests, which lies at the service of groups: a request is stored, and then run.
//!
//! - What the servant has done is durable: a request reaches it only when it is in the log. One that was not stored has not been run,
//!   and one that may have been stored is run by the next primary, if no later state or request of this one has taken its place.
//! - A checkpoint is the servant's state with the replies for repeats. It ends the log, and is stored together with the request
//!   that follows it.
//! - A member that gets a checkpoint and requests runs these on the checkpoint, and has the replies to them, too.
//! - Requests that wait at the same time are stored together. They are run, and answered, in their order.
//! - Each batch is stored with the digests of the replies to the one before: a member that runs them again, and gets another reply,
//!   reports that its servant is not deterministic.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::asynchronous::PendingReply;
use punctual::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind,
};
use punctual_groups_client::ft::{
    Checkpointable, CheckpointableGetStateError, CheckpointableServant,
    CheckpointableSetStateError, InvalidState, InvalidUpdate, NoStateAvailable, NoUpdateAvailable,
    State, UpdateableGetUpdateError, UpdateableServant, UpdateableSetUpdateError,
};
use punctual_groups_client::{Membership, Stored};
use punctual_host::store::{Cdr, Record};

use crate::answers::Waiting;
use crate::record::bytes_of;
use crate::requests::Reply;
use crate::runner::{Admission, Outcome, Runner};
use crate::stored::passive::{Batch, Checkpoint};

/// First bytes of a checkpoint and of a batch in the log, in this version of their records.
const MARK: [u8; 8] = *b"\0pnclog1";

/// Longest time for running the requests that are stored together, by the average of earlier ones. The service gives them to a
/// member in one call, which is limited by `call-time`.
const RUN_TOGETHER: Duration = Duration::from_millis(100);

/// Limits from which on a request is stored with a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckpointAfter {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

/// Log of a member's requests, which its front and the transfers of states share.
pub(crate) struct Log {
    /// Held while a batch is stored and run.
    run: Mutex<Run>,
    servant: Checkpointable,
    after: CheckpointAfter,
    /// False while the servant lacks a request of the log.
    is_whole: AtomicBool,
    is_ending: AtomicBool,
    /// Number of replies that were others when their requests were run again.
    differences: AtomicU64,
    membership: Mutex<Option<Arc<Membership>>>,
    failure: Mutex<Option<String>>,
}

/// What changes with each request.
struct Run {
    runner: Runner,
    /// Number of the last request that the servant has run, and the digests of the replies to those of its batch.
    number: u64,
    replies: Vec<u64>,
    /// Requests since the checkpoint, and their bytes.
    requests: usize,
    bytes: usize,
}

impl Log {
    pub(crate) fn new(runner: Runner, servant: &ObjectRef, after: CheckpointAfter) -> Self {
        Self {
            run: Mutex::new(Run {
                runner,
                number: 0,
                replies: Vec::new(),
                requests: 0,
                bytes: 0,
            }),
            servant: Checkpointable::from_object(servant.clone()),
            after,
            is_whole: AtomicBool::new(true),
            is_ending: AtomicBool::new(false),
            differences: AtomicU64::new(0),
            membership: Mutex::new(None),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn join(&self, membership: Membership) {
        *self.membership.lock() = Some(Arc::new(membership));
    }

    pub(crate) fn membership(&self) -> Option<Arc<Membership>> {
        self.membership.lock().clone()
    }

    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        let membership = self.membership.lock().take();
        drop(membership);
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    pub(crate) fn differences(&self) -> u64 {
        self.differences.load(Ordering::Relaxed)
    }

    /// Checks that the servant has run all requests of the log that have been stored or given here.
    ///
    /// # Errors
    /// TRANSIENT.
    pub(crate) fn check_whole(&self) -> Result<(), SystemException> {
        match self.is_whole.load(Ordering::Acquire) {
            true => Ok(()),
            false => Err(Kind::Transient.because("this member lacks a request of its group's log")),
        }
    }

    /// Stores the next waiting requests together, and runs them: one at least, and no more than run in [`RUN_TOGETHER`].
    /// Repeats of requests that were run are answered without running them again. Blocks.
    ///
    /// The outcome of each is given to `answer`. Errors are those of `StoreError` as exceptions, NO_RESOURCES and TIMEOUT of
    /// requests that are not to be run, and TRANSIENT: nothing was run. With COMPLETED_MAYBE the request may be run by the next primary.
    pub(crate) fn take(
        &self,
        waiting: &mut VecDeque<Waiting>,
        answer: &dyn Fn(Option<PendingReply>, Outcome),
    ) {
        let mut run = self.run.lock();
        let most = run.runner.pace.requests_in(RUN_TOGETHER);
        let mut together: Vec<Waiting> = Vec::new();
        while together.len() < most
            && let Some((request, client)) = waiting.pop_front()
        {
            if let Err(exception) = self.check_whole() {
                answer(client, Err(exception));
                continue;
            }
            let before = together.iter().map(|(request, _)| request);
            match run.runner.admit(&request, before) {
                Admission::Joins => together.push((request, client)),
                Admission::Answered(outcome) => answer(client, outcome),
                Admission::Waits => {
                    waiting.push_front((request, client));
                    break;
                }
            }
        }
        if together.is_empty() {
            return;
        }
        if let Err((together, exception)) = self.store_and_run(&mut run, together, answer) {
            match together.len() > 1 && is_too_long(&exception) {
                true => self.store_and_run_each(&mut run, together, answer),
                false => refuse_all(together, &exception, answer),
            }
        }
    }

    /// Stores and runs requests one after the other that are too long together. Of those that are too long by themselves, one that is
    /// not shorter than the one before needs no other attempt.
    fn store_and_run_each(
        &self,
        run: &mut Run,
        waiting: Vec<Waiting>,
        answer: &dyn Fn(Option<PendingReply>, Outcome),
    ) {
        let mut refused: Option<(usize, SystemException)> = None;
        for one in waiting {
            let length = bytes_of(&one.0).map_or(usize::MAX, |bytes| bytes.len());
            if let Some((least, exception)) = &refused
                && length >= *least
            {
                answer(one.1, Err(exception.clone()));
                continue;
            }
            refused = None;
            if let Err((one, exception)) = self.store_and_run(run, vec![one], answer) {
                refuse_all(one, &exception, answer);
                refused = Some((length, exception)).filter(|(_, why)| is_too_long(why));
            }
        }
    }

    /// Stores requests together, and runs them.
    ///
    /// # Errors
    /// They were not stored, or that is not known, and have not been run: they are given back, with the reason.
    fn store_and_run(
        &self,
        run: &mut Run,
        waiting: Vec<Waiting>,
        answer: &dyn Fn(Option<PendingReply>, Outcome),
    ) -> Result<(), (Vec<Waiting>, SystemException)> {
        let (together, clients): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
        let batch = Batch {
            number: run.number + 1,
            replies_before: run.replies.clone(),
            together,
        };
        match self.store(run, &batch) {
            Ok(bytes) => {
                run.requests += batch.together.len();
                run.bytes += bytes;
            }
            Err(exception) => {
                let waiting = batch.together.into_iter().zip(clients);
                return Err((waiting.collect(), exception));
            }
        }
        let mut clients = clients.into_iter();
        let ran = run.run(
            &batch,
            &|| self.is_ending.load(Ordering::Acquire),
            |reply| {
                answer(clients.next().flatten(), Ok(reply));
            },
        );
        if let Err(why) = ran {
            self.fail(&why);
            let exception = SystemException::new(Kind::Transient, 0, CompletionStatus::Maybe);
            let exception = exception.with_detail(why);
            // Those behind it were stored, too.
            for client in clients {
                answer(client, Err(exception.clone()));
            }
        }
        Ok(())
    }

    /// Stores a batch, together with a checkpoint where that is due, or the service asks for it. Returns the batch's bytes.
    fn store(&self, run: &mut Run, batch: &Batch) -> Result<usize, SystemException> {
        let update = marked(batch);
        let update = update.ok_or_else(|| Kind::ImpLimit.because("the request is too long"))?;
        let membership = self.membership();
        let membership =
            membership.ok_or_else(|| Kind::Transient.because("this member has not joined yet"))?;
        let is_due = run.requests >= self.after.requests || run.bytes >= self.after.bytes;
        let due = is_due.then(|| self.checkpoint(run, Some(batch)));
        let stored = match due {
            Some(Ok(checkpoint)) => {
                membership.store_state(&checkpoint)?;
                Stored::State
            }
            // The log may have room for more.
            due => {
                if let Some(Err(why)) = due {
                    tracing::warn!("a checkpoint of a member is put off: {why}");
                }
                membership.store_update_or(&update, || self.checkpoint(run, Some(batch)))?
            }
        };
        if stored == Stored::State {
            (run.requests, run.bytes) = (0, 0);
        }
        Ok(update.len())
    }

    /// Returns the state as a checkpoint, with the batch that follows it.
    fn checkpoint(&self, run: &Run, to_run: Option<&Batch>) -> Result<Vec<u8>, SystemException> {
        let servant = self.servant.get_state().map_err(|error| {
            Kind::Transient.because(format!("the servant gives no state: {error}"))
        })?;
        let checkpoint = Checkpoint {
            number: run.number,
            replies: run.replies.clone(),
            time: run.runner.time(),
            servant,
            known: run.runner.known(),
            to_run: to_run.cloned().into_iter().collect(),
        };
        marked(&checkpoint).ok_or_else(|| Kind::ImpLimit.because("the state is too long"))
    }

    /// Leaves the group, as the servant has not run a request that is in the log.
    fn fail(&self, why: &str) {
        self.is_whole.store(false, Ordering::Release);
        if !self.is_ending.load(Ordering::Acquire) {
            tracing::error!("a member leaves its passive group: {why}");
        }
        *self.failure.lock() = Some(why.to_owned());
        let membership = self.membership.lock().take();
        drop(membership);
    }
}

impl Run {
    /// Runs the next requests of the log, in their order; `ran` gets each reply.
    ///
    /// # Errors
    /// The reason why the servant has not run one, nor those behind it.
    fn run(
        &mut self,
        batch: &Batch,
        is_ending: &dyn Fn() -> bool,
        mut ran: impl FnMut(Reply),
    ) -> Result<(), String> {
        self.replies.clear();
        for request in &batch.together {
            let reply = self.runner.run(request, is_ending)?;
            self.number += 1;
            self.replies.push(reply.digest());
            ran(reply);
        }
        Ok(())
    }
}

fn refuse_all(
    waiting: Vec<Waiting>,
    exception: &SystemException,
    answer: &dyn Fn(Option<PendingReply>, Outcome),
) {
    for (_, client) in waiting {
        answer(client, Err(exception.clone()));
    }
}

/// Returns whether requests were certainly not stored because of their length, or that of the state.
fn is_too_long(exception: &SystemException) -> bool {
    let kinds = [Kind::NoResources, Kind::ImpLimit];
    kinds.contains(&exception.kind()) && exception.completed() == CompletionStatus::No
}

/// Returns whether the replies with these digests certainly differ. In different byte orders they cannot be compared.
fn differ(one: u64, other: u64) -> bool {
    let is_same_order = (one ^ other) & 1 == 0;
    is_same_order && one != other
}

fn marked<T: Clone>(record: &T) -> Option<Vec<u8>>
where
    Cdr<T>: Record,
{
    Some([&MARK[..], &bytes_of(record)?].concat())
}

fn unmarked<T>(bytes: &[u8]) -> Option<T>
where
    Cdr<T>: Record,
{
    Cdr::decode(bytes.strip_prefix(&MARK)?).map(|Cdr(record)| record)
}

/// States and requests as the service gives them to the member, and asks for them.
pub(crate) struct Transfers(pub(crate) Arc<Log>);

impl Transfers {
    /// Takes a state, and runs the requests that follow it.
    fn restore(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        let log = &*self.0;
        let checkpoint = match s.starts_with(&MARK) {
            true => unmarked::<Checkpoint>(s).ok_or(InvalidState)?,
            // What the group stored before its members logged their requests.
            false => Checkpoint {
                number: 0,
                replies: Vec::new(),
                time: 0,
                servant: s.to_vec(),
                known: Vec::new(),
                to_run: Vec::new(),
            },
        };
        let mut run = log.run.lock();
        log.is_whole.store(false, Ordering::Release);
        log.servant.set_state(&checkpoint.servant)?;
        run.runner.replace(checkpoint.time, checkpoint.known);
        run.number = checkpoint.number;
        run.replies = checkpoint.replies;
        (run.requests, run.bytes) = (0, 0);
        for batch in &checkpoint.to_run {
            log.run_again(&mut run, batch).map_err(|why| {
                tracing::warn!("a member does not take a checkpoint: {why}");
                InvalidState
            })?;
        }
        log.is_whole.store(true, Ordering::Release);
        Ok(())
    }
}

impl Log {
    /// Runs requests that another member has logged, or this one in an earlier term.
    ///
    /// # Errors
    /// The reason why one was not run.
    fn run_again(&self, run: &mut Run, batch: &Batch) -> Result<(), String> {
        let (number, before) = (batch.number, run.number);
        if before.checked_add(1) != Some(number) || batch.together.is_empty() {
            return Err(format!(
                "request {number} of the log does not follow request {before}"
            ));
        }
        let replies = run.replies.iter().zip(&batch.replies_before);
        let differences = replies
            .filter(|(one, other)| differ(**one, **other))
            .count();
        if differences > 0 {
            let differences = u64::try_from(differences).unwrap_or(u64::MAX);
            self.differences.fetch_add(differences, Ordering::Relaxed);
            tracing::error!(
                "{differences} requests of the log, up to request {before}, were answered otherwise when they were run again: the servant is not deterministic"
            );
        }
        self.is_whole.store(false, Ordering::Release);
        run.run(batch, &|| self.is_ending.load(Ordering::Acquire), drop)?;
        run.requests += batch.together.len();
        self.is_whole.store(true, Ordering::Release);
        Ok(())
    }
}

impl CheckpointableServant for Transfers {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        let run = self.0.run.lock();
        let state = self
            .0
            .check_whole()
            .and_then(|()| self.0.checkpoint(&run, None));
        state.map_err(|why| {
            tracing::debug!("a member gives no checkpoint: {why}");
            NoStateAvailable.into()
        })
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        self.restore(s)
    }
}

/// A batch of requests that were logged is an update. The service takes checkpoints, and no updates.
impl UpdateableServant for Transfers {
    fn get_update(&self) -> Result<State, UpdateableGetUpdateError> {
        Err(NoUpdateAvailable.into())
    }

    fn set_update(&self, s: &[u8]) -> Result<(), UpdateableSetUpdateError> {
        let batch = unmarked::<Batch>(s).ok_or(InvalidUpdate)?;
        let mut run = self.0.run.lock();
        if self.0.check_whole().is_err() {
            return Err(InvalidUpdate.into());
        }
        run.bytes += s.len();
        self.0.run_again(&mut run, &batch).map_err(|why| {
            tracing::warn!("a member does not take a request of the log: {why}");
            InvalidUpdate.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_in_one_byte_order_are_compared() {
        assert!(differ(4, 6) && differ(5, 7));
        assert!(!differ(4, 4) && !differ(4, 7));
    }

    #[test]
    fn a_record_without_the_mark_or_cut_short_is_none() {
        let checkpoint = Checkpoint {
            number: 7,
            replies: vec![9],
            time: 3,
            servant: b"state".to_vec(),
            known: Vec::new(),
            to_run: Vec::new(),
        };
        let bytes = marked(&checkpoint).unwrap();
        assert_eq!(unmarked::<Checkpoint>(&bytes), Some(checkpoint));
        assert_eq!(unmarked::<Checkpoint>(&bytes[1..]), None);
        assert_eq!(unmarked::<Checkpoint>(&bytes[..bytes.len() - 1]), None);
        assert_eq!(unmarked::<Batch>(&MARK), None);
    }
}
