//! Which members of groups are dead: all are asked again and again (`_non_existent`).
//!
//! A reference comes from whoever may join, so that asking makes this process connect where that peer says, as
//! federation does; members that are reached within this machine are asked only where the ORB lets references
//! of others lead there. What does not answer twice in a row is passed over, until it answers again; what has been
//! dead for long is removed.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual::ObjectRef;
use punctual_exec::thread::ThreadSpec;

use super::{ServeError, ServeOptions, Server, Shared};
use crate::client::Answer;
use crate::service::Member;
use crate::store::ContextId;
use crate::tree::Lapsing;

/// How long a member may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Members that are asked at the same time.
const AT_A_TIME: usize = 4;

/// Members that are held while they are asked.
const BATCH: usize = 256;

/// Ends the thread that asks, when dropped.
#[derive(Debug, Default)]
pub(super) struct Checking(Arc<End>);

#[derive(Debug, Default)]
struct End {
    has_come: Mutex<bool>,
    changed: Condvar,
}

/// A member, and its reference.
type Asked = (ContextId, Member, ObjectRef);

impl Checking {
    /// Has the members of all groups asked from now on, if that is wanted.
    pub(super) fn begin(&self, server: &Server) -> Result<(), ServeError> {
        let options = server.0.options;
        let Some(interval) = options.group_check.filter(|_| options.federated) else {
            return Ok(());
        };
        let (end, server) = (self.0.clone(), Arc::downgrade(&server.0));
        let check = move || {
            while !end.wait(interval) {
                if round(&server, &options).is_none() {
                    return;
                }
            }
        };
        // It ends by itself after the servant was dropped.
        let started = ThreadSpec::named("naming-groups").start(check);
        started
            .map(drop)
            .map_err(|error| ServeError(error.to_string()))
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        *self.0.has_come.lock() = true;
        self.0.changed.notify_all();
    }
}

impl End {
    /// Waits; whether the end has come.
    fn wait(&self, interval: Duration) -> bool {
        let until = Instant::now() + interval;
        let mut has_come = self.has_come.lock();
        while !*has_come && !self.changed.wait_until(&mut has_come, until).timed_out() {}
        *has_come
    }
}

/// Asks all members once; nothing where the servant is gone.
fn round(server: &Weak<Shared>, options: &ServeOptions) -> Option<()> {
    let groups = Server(server.upgrade()?).service().groups();
    let mut batch = Vec::new();
    for (at, context) in groups.iter().enumerate() {
        {
            let server = Server(server.upgrade()?);
            let members = server.service().members(*context).into_iter();
            batch.extend(members.filter_map(|member| {
                let reference = server.reference(&member.target).ok()??;
                let may_ask = Answer::may_be_asked(&reference);
                may_ask.then_some((*context, member, reference))
            }));
        }
        if batch.len() >= BATCH || at + 1 == groups.len() {
            let answers = asked(std::mem::take(&mut batch));
            note(&Server(server.upgrade()?), answers, options);
        }
    }
    Some(())
}

/// Asks members, a few at a time; whether each has answered.
fn asked(members: Vec<Asked>) -> Vec<(ContextId, Member, bool)> {
    let count = members.len().min(AT_A_TIME);
    let waiting = Arc::new(Mutex::new(members.into_iter()));
    let work = || {
        let waiting = waiting.clone();
        move || {
            let mut answers = Vec::new();
            loop {
                let next = waiting.lock().next();
                let Some((context, member, reference)) = next else {
                    return answers;
                };
                let answer = Answer::of(&reference, PATIENCE);
                answers.push((context, member, answer == Answer::Alive));
            }
        }
    };
    let start = |work| ThreadSpec::named("naming-asks").start(work);
    // What cannot be asked for want of threads is asked in the next round.
    let threads: Vec<_> = (0..count).filter_map(|_| start(work()).ok()).collect();
    let answers = threads.into_iter().filter_map(|thread| thread.join().ok());
    answers.flatten().collect()
}

/// Notes what members have answered, and removes those that have been dead for long.
fn note(server: &Server, answers: Vec<(ContextId, Member, bool)>, options: &ServeOptions) {
    let mut dead = Vec::new();
    for (context, member, has_answered) in answers {
        let dead_for = server.service().note_answer(context, &member, has_answered);
        let is_removed = options
            .group_remove
            .zip(dead_for)
            .is_some_and(|(after, dead_for)| dead_for >= after);
        if is_removed {
            tracing::warn!(
                "a member of a group is removed, as it is dead: `{}`",
                member.key
            );
            let Member { key, target, .. } = member;
            dead.push(Lapsing {
                context,
                key,
                target,
            });
        }
    }
    if let Err(refusal) = server.service().remove(dead) {
        tracing::warn!("dead members of groups are removed later: {refusal}");
    }
}
