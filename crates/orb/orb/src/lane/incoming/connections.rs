//! The connections that clients have opened, as their lane knows them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Of so many connections, one is closed when there is no room for another: looking for them takes time.
const MANY: usize = 64;
/// Where none could go, nobody looks again for so long.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The reserve for hosts that have few connections: this part of the limit beside it, which is also what such a host
/// has at most.
const RESERVE: usize = 8;

/// A connection that a client opened.
pub(crate) trait Accepted: Send + Sync + Debug {
    /// The number of the endpoint it came in at.
    fn endpoint(&self) -> u64;

    /// No new requests; CloseConnection when the last one in progress has been answered.
    fn say_goodbye(&self);

    /// How many messages have come, if no request is in progress.
    fn idle_at(&self) -> Option<u64>;

    /// How many messages have come.
    fn messages(&self) -> u64;

    /// Whether something has come that nobody has received. A system call.
    fn has_unread(&self) -> bool;

    /// Ends it without waiting for anybody, by CloseConnection behind the last reply; `false` where it is not idle any
    /// more, and stands.
    fn make_room(&self) -> bool;

    /// Where it stands, if nobody receives there at the moment and no reply is being sent: a number that
    /// changes with each message.
    fn stands_still_at(&self) -> Option<u64>;

    /// The upcall there takes long: sends the replies that wait for it, and has another thread receive if
    /// there is more to.
    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64);
}

/// Those of one lane. They belong to the threads that serve them.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    state: Mutex<State>,
    /// A client has come or gone, or the end has come.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    next: u64,
    open: BTreeMap<u64, Entry>,
    /// How many were not told to go: of each host, or each link without hosts,
    hosts: HashMap<Arc<str>, usize>,
    /// and in all.
    count: usize,
    /// When one was last looked for that could go, and there was none.
    fruitless: Option<Instant>,
}

/// What a look has found. Dropped without the lock: the last hold on a connection takes it.
#[derive(Debug, Default)]
struct Looked {
    seen: Vec<Arc<dyn Accepted>>,
    /// Those that are to go, by their numbers.
    leaving: Vec<(u64, Arc<dyn Accepted>)>,
}

#[derive(Debug)]
struct Entry {
    connection: Weak<dyn Accepted>,
    from: Arc<str>,
    /// How many messages had come at the last look, and since when it has been quiet; `None` where a request was in
    /// progress.
    quiet: Option<(u64, Instant)>,
    /// Whether it was told to go.
    leaves: bool,
}

/// There are as many connections as there may be, and none was quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Connections {
    pub(crate) fn len(&self) -> usize {
        self.lock().open.len()
    }

    /// How many there are, and the messages that have come on them.
    pub(in crate::lane) fn messages(&self) -> (usize, u64) {
        // Dropping the last hold on one takes the lock again.
        let open: Vec<_> = {
            let state = self.lock();
            let connections = state.open.values();
            connections
                .filter_map(|one| one.connection.upgrade())
                .collect()
        };
        (open.len(), open.iter().map(|one| one.messages()).sum())
    }

    /// One more; what it is to [`Connections::leave`] with.
    pub(crate) fn join(&self, connection: Weak<dyn Accepted>, from: Arc<str>) -> u64 {
        let mut state = self.lock();
        let id = state.next;
        state.next += 1;
        *state.hosts.entry(from.clone()).or_default() += 1;
        state.count += 1;
        let entry = Entry {
            connection,
            from,
            quiet: Some((0, Instant::now())),
            leaves: false,
        };
        state.open.insert(id, entry);
        self.changed.notify_all();
        id
    }

    pub(crate) fn leave(&self, id: u64) {
        let mut state = self.lock();
        let gone = state.open.remove(&id);
        if let Some(gone) = gone.filter(|gone| !gone.leaves) {
            state.remove_one(&gone.from);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Whether there is room for one more from a host, among `limit`. Closes connections that were quiet for `quiet`
    /// where there is none.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn make_room(
        &self,
        limit: usize,
        from: &Arc<str>,
        quiet: Option<Duration>,
    ) -> Result<(), Full> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.count < limit {
            return Ok(());
        }
        // Those that were told to go have not all gone.
        if state.open.len() >= limit.saturating_mul(2) {
            return Err(Full);
        }
        let looks = state
            .fruitless
            .is_none_or(|last| now.saturating_duration_since(last) >= LOOK_AGAIN);
        let looked = quiet
            .filter(|_| looks)
            .map(|quiet| state.choose(now, quiet, limit / MANY + 1));
        if let Some(looked) = &looked {
            state.fruitless = looked.leaving.is_empty().then_some(now);
        }
        let few = limit / RESERVE;
        let has_few = state.hosts.get(from).copied().unwrap_or_default() < few;
        let has_room = state.count < limit || has_few && state.count < limit + few;
        drop(state);
        self.let_go(looked.unwrap_or_default());
        has_room.then_some(()).ok_or(Full)
    }

    /// Closes some that were quiet for `quiet`, whatever room there is: the process has no descriptor left for another.
    pub(crate) fn let_some_go(&self, quiet: Duration) {
        let mut state = self.lock();
        let most = state.count / MANY + 1;
        let looked = state.choose(Instant::now(), quiet, most);
        drop(state);
        self.let_go(looked);
    }

    /// Looks how long each has been quiet, and closes those that were for `idle`.
    pub(super) fn look(&self, idle: Option<Duration>) {
        let now = Instant::now();
        let mut state = self.lock();
        let looked = match idle {
            Some(idle) => state.choose(now, idle, usize::MAX),
            None => state.look(now),
        };
        drop(state);
        self.let_go(looked);
    }

    /// Lets those go that are to. Those that are not idle any more stay, and count again. Without the lock.
    fn let_go(&self, looked: Looked) {
        for (number, one) in &looked.leaving {
            if !one.make_room() {
                self.lock().stays(*number);
            }
        }
    }

    /// Says goodbye to those that came in at such endpoints; their calls in progress finish.
    pub(super) fn say_goodbye(&self, came_in_at: impl Fn(u64) -> bool) {
        let open: Vec<_> = {
            let state = self.lock();
            state
                .open
                .values()
                .map(|one| one.connection.clone())
                .collect()
        };
        for connection in open.iter().filter_map(Weak::upgrade) {
            if came_in_at(connection.endpoint()) {
                connection.say_goodbye();
            }
        }
    }

    /// Says goodbye to all; nobody is waited for any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
        self.say_goodbye(|_| true);
    }

    pub(super) fn wait_until_none(&self) {
        let mut state = self.lock();
        while !state.open.is_empty() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a client is connected, then for `interval`; `None` when there will be no more.
    pub(super) fn after(&self, interval: Duration) -> Option<Vec<(u64, Arc<dyn Accepted>)>> {
        let mut state = self.lock();
        while state.open.is_empty() && !state.closed {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let waited = self
            .changed
            .wait_timeout_while(state, interval, |state| !state.closed);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        // Dropping the last hold on one takes the lock again: they are dropped by the caller.
        let open = state.open.iter();
        let held = open.filter_map(|(&number, one)| Some((number, one.connection.upgrade()?)));
        (!state.closed).then(|| held.collect())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove_one(&mut self, from: &Arc<str>) {
        self.count -= 1;
        if let Some(count) = self.hosts.get_mut(from) {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(from);
            }
        }
    }

    /// One that was told to go stays.
    fn stays(&mut self, number: u64) {
        if let Some(entry) = self.open.get_mut(&number) {
            entry.leaves = false;
            entry.quiet = None;
            self.count += 1;
            *self.hosts.entry(entry.from.clone()).or_default() += 1;
        }
    }

    /// Notes how long each has been quiet.
    fn look(&mut self, now: Instant) -> Looked {
        let mut looked = Looked::default();
        for entry in self.open.values_mut() {
            let Some(connection) = entry.connection.upgrade() else {
                continue;
            };
            entry.quiet = match (connection.idle_at(), entry.quiet) {
                (Some(number), Some((before, since))) if number == before => Some((number, since)),
                (Some(number), _) => Some((number, now)),
                (None, _) => None,
            };
            looked.seen.push(connection);
        }
        looked
    }

    /// Chooses those that are to go, at most so many: first those that never said anything, then of the host that has
    /// most, what was quiet for longest.
    fn choose(&mut self, now: Instant, quiet: Duration, most: usize) -> Looked {
        let mut looked = self.look(now);
        let hosts = &self.hosts;
        let mut idle: Vec<_> = self
            .open
            .iter()
            .filter_map(|(&number, entry)| {
                let (heard, since) = entry.quiet.filter(|_| !entry.leaves)?;
                let is_quiet = now.saturating_duration_since(since) >= quiet;
                let of_host = hosts.get(&entry.from).copied().unwrap_or_default();
                is_quiet.then_some((heard > 0, Reverse(of_host), since, number))
            })
            .collect();
        idle.sort_unstable();
        for (.., number) in idle {
            if looked.leaving.len() >= most {
                break;
            }
            let Some(entry) = self.open.get_mut(&number) else {
                continue;
            };
            if let Some(connection) = entry.connection.upgrade() {
                if connection.has_unread() {
                    looked.seen.push(connection);
                    continue;
                }
                entry.leaves = true;
                let from = entry.from.clone();
                self.remove_one(&from);
                looked.leaving.push((number, connection));
            }
        }
        looked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that has called once and is quiet, as far as a look tells.
    #[derive(Debug)]
    struct Quiet {
        /// Whether it goes when it is told to.
        goes: bool,
    }

    impl Accepted for Quiet {
        fn endpoint(&self) -> u64 {
            0
        }

        fn say_goodbye(&self) {}

        fn idle_at(&self) -> Option<u64> {
            Some(1)
        }

        fn messages(&self) -> u64 {
            1
        }

        fn has_unread(&self) -> bool {
            false
        }

        fn make_room(&self) -> bool {
            self.goes
        }

        fn stands_still_at(&self) -> Option<u64> {
            None
        }

        fn hand_over_if_needed(self: Arc<Self>, _: u64) {}
    }

    #[test]
    fn one_that_is_told_to_go_counts_again_where_it_is_not_idle_any_more() {
        for (goes, left) in [(true, 0), (false, 1)] {
            let (connections, host) = (Connections::default(), Arc::from("host"));
            let one: Arc<dyn Accepted> = Arc::new(Quiet { goes });
            let id = connections.join(Arc::downgrade(&one), Arc::clone(&host));
            let room = connections.make_room(1, &host, Some(Duration::ZERO));
            assert_eq!(room, Ok(()));
            assert_eq!(connections.lock().count, left);
            assert_eq!(
                connections.lock().hosts.get(&host).copied(),
                (!goes).then_some(1)
            );
            connections.leave(id);
            assert_eq!(connections.len(), 0);
            assert_eq!(connections.lock().count, 0);
            assert!(connections.lock().hosts.is_empty());
        }
    }
}
