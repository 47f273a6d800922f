//! Liveness of members: a thread asks all of them at intervals whether they exist
//! (`_non_existent`).
//!
//! A reference comes from a peer that may join, so that asking makes this process connect to an
//! address of the peer's choice; members that are reached by links within this machine are asked
//! only if the ORB permits that for references from peers. A member that fails to answer twice in
//! succession is not chosen until it answers again.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual::ObjectRef;
use punctual_exec::thread::{SpawnError, ThreadSpec};

use crate::answer::Answer;

/// Time limit for a member's answer to a liveness check.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of members that are asked at the same time.
const AT_A_TIME: usize = 4;

/// Number of members that are fetched from the service at a time.
const BATCH: usize = 256;

/// Service whose object groups have their members checked for liveness.
pub trait Watched: Send + Sync + 'static {
    /// Type of the keys that identify groups.
    type Group: Copy + Send + 'static;
    /// Member, identified as it was when it was asked.
    type Member: Send + 'static;

    /// Returns the keys of all groups of the service.
    fn groups(&self) -> Vec<Self::Group>;

    /// Returns the members of a group, each with its reference.
    fn members(self: &Arc<Self>, group: Self::Group) -> Vec<(Self::Member, ObjectRef)>;

    /// Asks a member whether it lives, and waits at most this long: by default, whether its object exists. Blocks.
    fn lives(member: &Self::Member, reference: &ObjectRef, within: Duration) -> bool {
        let _ = member;
        Answer::of(reference, within) == Answer::Alive
    }

    /// Records for each member whether it has answered, and removes those that have been dead for
    /// long.
    fn note(&self, answers: Vec<(Self::Group, Self::Member, bool)>);
}

/// Thread that checks members at intervals, until this is dropped.
#[derive(Debug, Default)]
pub struct Checking(Arc<End>);

#[derive(Debug, Default)]
struct End {
    has_come: Mutex<bool>,
    changed: Condvar,
}

/// Member to be checked, with its group and its reference.
type Asked<W> = (<W as Watched>::Group, <W as Watched>::Member, ObjectRef);

/// Member with its group, and whether it has answered.
type Answered<W> = (<W as Watched>::Group, <W as Watched>::Member, bool);

impl Checking {
    /// Starts a thread that asks the members of all groups after each `interval`, as long as the service exists.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn begin<W: Watched>(
        &self,
        name: &'static str,
        watched: Weak<W>,
        interval: Duration,
    ) -> Result<(), SpawnError> {
        let end = self.0.clone();
        let check = move || {
            while !end.wait(interval) {
                if round(&watched).is_none() {
                    return;
                }
            }
        };
        // The thread ends by itself after the service was dropped.
        ThreadSpec::named(name).start(check).map(drop)
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        *self.0.has_come.lock() = true;
        self.0.changed.notify_all();
    }
}

impl End {
    /// Waits for the interval, or until this is dropped; returns true in the latter case.
    fn wait(&self, interval: Duration) -> bool {
        let until = Instant::now() + interval;
        let mut has_come = self.has_come.lock();
        while !*has_come && !self.changed.wait_until(&mut has_come, until).timed_out() {}
        *has_come
    }
}

/// Asks all members once; returns `None` when the service no longer exists.
fn round<W: Watched>(watched: &Weak<W>) -> Option<()> {
    let groups = watched.upgrade()?.groups();
    let mut batch = Vec::new();
    for (at, group) in groups.iter().copied().enumerate() {
        let members = watched.upgrade()?.members(group).into_iter();
        batch.extend(members.filter_map(|(member, reference)| {
            let may_ask = Answer::may_be_asked(&reference);
            may_ask.then_some((group, member, reference))
        }));
        if batch.len() >= BATCH || at + 1 == groups.len() {
            let answers = asked::<W>(std::mem::take(&mut batch));
            watched.upgrade()?.note(answers);
        }
    }
    Some(())
}

/// Checks the liveness of group members, a few members at a time.
fn asked<W: Watched>(members: Vec<Asked<W>>) -> Vec<Answered<W>> {
    let count = members.len().min(AT_A_TIME);
    let waiting = Arc::new(Mutex::new(members.into_iter()));
    let work = || {
        let waiting = waiting.clone();
        move || {
            let mut answers = Vec::new();
            loop {
                let next = waiting.lock().next();
                let Some((group, member, reference)) = next else {
                    return answers;
                };
                let lives = W::lives(&member, &reference, PATIENCE);
                answers.push((group, member, lives));
            }
        }
    };
    let start = |work| ThreadSpec::named("group-asks").start(work);
    // Members that cannot be asked for want of threads are asked in the next round.
    let threads: Vec<_> = (0..count).filter_map(|_| start(work()).ok()).collect();
    let answers = threads.into_iter().filter_map(|thread| thread.join().ok());
    answers.flatten().collect()
}
