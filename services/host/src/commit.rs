//! Group commit: the operations of all waiting callers are performed and committed at once.
//!
//! There is no thread for it. A caller that finds no commit under way becomes the *leader* and commits for all callers
//! that wait by then. Callers that come meanwhile wait; when the leader is done, one of them is the next leader. So a
//! lone caller never waits for another, and under load each commit takes all operations that came during the one before.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

/// Maximum number of operations in one commit to the store.
const MOST: usize = 4096;

/// Queue of operations that wait for a common commit to the store.
#[derive(Debug)]
pub struct Commits<O, R> {
    queue: Mutex<Queue<O, R>>,
}

#[derive(Debug)]
struct Queue<O, R> {
    waiting: VecDeque<(O, Arc<Waiter<R>>)>,
    has_leader: bool,
}

/// State with which one caller waits for its operation's outcome.
#[derive(Debug)]
struct Waiter<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

#[derive(Debug)]
enum State<R> {
    Waits,
    Leads,
    Done(R),
}

impl<O, R> Default for Commits<O, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O, R> Commits<O, R> {
    /// Creates an empty queue of operations that wait for a commit.
    #[must_use]
    pub fn new() -> Self {
        Self {
            queue: Mutex::new(Queue {
                waiting: VecDeque::new(),
                has_leader: false,
            }),
        }
    }

    /// Performs an operation together with those of other callers, by `commit` on this thread or on
    /// another caller's, and returns its outcome. `commit` returns the outcomes of all operations
    /// in their order; if it returns fewer, or panics, `lost` provides the missing outcomes.
    ///
    /// Blocks until the commit is done.
    pub fn submit(
        &self,
        operation: O,
        commit: impl FnOnce(Vec<O>) -> Vec<R>,
        lost: impl Fn() -> R,
    ) -> R {
        let place = Arc::new(Waiter {
            state: Mutex::new(State::Waits),
            changed: Condvar::new(),
        });
        let mut queue = self.queue.lock();
        queue.waiting.push_back((operation, place.clone()));
        let leads = !std::mem::replace(&mut queue.has_leader, true);
        drop(queue);
        if !leads && let Some(outcome) = place.wait() {
            return outcome;
        }
        self.lead(commit, &lost);
        // The leader's own operation was the first of those that waited.
        place.wait().unwrap_or_else(lost)
    }

    /// Performs the operations of all waiting callers, and then makes one of the callers that came
    /// meanwhile the leader.
    fn lead(&self, commit: impl FnOnce(Vec<O>) -> Vec<R>, lost: &impl Fn() -> R) {
        let (operations, places): (Vec<O>, Vec<_>) = {
            let waiting = &mut self.queue.lock().waiting;
            let count = waiting.len().min(MOST);
            waiting.drain(..count).unzip()
        };
        let outcomes = catch_unwind(AssertUnwindSafe(|| commit(operations)));
        let mut outcomes = outcomes.unwrap_or_default().into_iter();
        {
            let mut queue = self.queue.lock();
            match queue.waiting.front() {
                Some((_, next)) => next.become_(State::Leads),
                None => queue.has_leader = false,
            }
        }
        for place in places {
            place.become_(State::Done(outcomes.next().unwrap_or_else(lost)));
        }
    }
}

impl<R> Waiter<R> {
    fn become_(&self, state: State<R>) {
        *self.state.lock() = state;
        self.changed.notify_one();
    }

    /// Waits for the operation's outcome; returns `None` if its caller is to lead.
    fn wait(&self) -> Option<R> {
        let mut state = self.state.lock();
        loop {
            match std::mem::replace(&mut *state, State::Waits) {
                State::Waits => self.changed.wait(&mut state),
                State::Leads => return None,
                State::Done(outcome) => return Some(outcome),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn who_comes_during_a_commit_is_in_the_next_one_with_all_others() {
        let commits = Commits::<usize, usize>::new();
        let (begun, go_on) = (Barrier::new(2), Barrier::new(2));
        let sizes = Mutex::new(Vec::new());
        let later = |operations: Vec<usize>| {
            sizes.lock().push(operations.len());
            operations.into_iter().map(|number| number * 2).collect()
        };
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                let commit = |operations| {
                    begun.wait();
                    go_on.wait();
                    later(operations)
                };
                commits.submit(1, commit, || 0)
            });
            begun.wait();
            let others: Vec<_> = (2..10)
                .map(|number| {
                    let (commits, later) = (&commits, &later);
                    scope.spawn(move || commits.submit(number, later, || 0))
                })
                .collect();
            while commits.queue.lock().waiting.len() < others.len() {
                std::thread::yield_now();
            }
            go_on.wait();
            assert_eq!(first.join().unwrap(), 2);
            let doubled: Vec<usize> = others.into_iter().map(|one| one.join().unwrap()).collect();
            assert_eq!(
                doubled,
                (2..10).map(|number| number * 2).collect::<Vec<_>>()
            );
        });
        assert_eq!(*sizes.lock(), [1, 8]);
    }

    #[test]
    fn a_commit_that_panics_is_told_to_all_and_the_next_goes_on() {
        let commits = Commits::<(), bool>::new();
        let calls = AtomicUsize::new(0);
        let commit = |operations: Vec<()>| {
            assert!(calls.fetch_add(1, Ordering::Relaxed) > 0, "the first fails");
            operations.iter().map(|()| true).collect()
        };
        assert!(!commits.submit((), commit, || false));
        assert!(commits.submit((), commit, || false));
    }
}
