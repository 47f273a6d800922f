//! Connections that clients have opened to a lane.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Divisor for the number of connections that are closed at once when there is no room for another:
/// one in 64, as each search takes time.
const MANY: usize = 64;
/// Time for which no search is repeated after one that found no connection to close.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Divisor of the connection limit: the reserve for hosts with few connections is this fraction of
/// the limit, on top of it. It is also the most that such a host may have.
const RESERVE: usize = 8;

/// Connection that a client opened to this server.
pub(crate) trait Accepted: Send + Sync + Debug {
    /// Returns the number of the endpoint at which the connection was accepted.
    fn endpoint(&self) -> u64;

    /// Accepts no new requests, and sends CloseConnection once the last request in progress has
    /// been answered.
    fn say_goodbye(&self);

    /// Returns the number of messages received, if no request is in progress.
    fn idle_at(&self) -> Option<u64>;

    /// Returns the number of messages received on the connection.
    fn messages(&self) -> u64;

    /// Returns the number of the network device's queue by which the last data came, if there is one. Makes a system call.
    fn napi_id(&self) -> Option<u32>;

    /// Returns `true` if data has arrived that no thread has received. Makes a system call.
    fn has_unread(&self) -> bool;

    /// Closes the connection without waiting, with CloseConnection after the last reply; returns
    /// `false`, and keeps it open, if it is no longer idle.
    fn make_room(&self) -> bool;

    /// Returns a number that changes with each message, if no thread receives on the connection at
    /// the moment and no reply is being sent.
    fn stalled_at(&self) -> Option<u64>;

    /// Handles an upcall that takes long: sends the delayed replies and, if there is more to
    /// receive, makes another thread receive.
    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64);
}

/// Connections of one lane. They are owned by the threads that serve them.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    state: Mutex<State>,
    /// Notified when a client has connected or disconnected, or the lane ends.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    next: u64,
    open: BTreeMap<u64, Entry>,
    /// Number of connections that have not been asked to close, by host, or by link for links
    /// without hosts.
    hosts: HashMap<Arc<str>, usize>,
    /// Number of connections that have not been asked to close.
    count: usize,
    /// Time of the last search that found no connection to close.
    last_empty_search: Option<Instant>,
}

/// Result of a search for connections to close. To be dropped without holding the lock, as dropping
/// the last reference to a connection takes the lock.
#[derive(Debug, Default)]
struct Search {
    seen: Vec<Arc<dyn Accepted>>,
    /// Connections that are to be closed, with their numbers.
    leaving: Vec<(u64, Arc<dyn Accepted>)>,
}

#[derive(Debug)]
struct Entry {
    connection: Weak<dyn Accepted>,
    from: Arc<str>,
    /// Number of messages at the last check, and the time since which the connection has been idle;
    /// `None` if a request was in progress.
    quiet: Option<(u64, Instant)>,
    /// True if the connection has been asked to close.
    leaves: bool,
}

/// Error: the connection limit is reached, and no connection was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Connections {
    pub(crate) fn len(&self) -> usize {
        self.lock().open.len()
    }

    /// Returns the number of connections, and the number of messages received on them.
    pub(in crate::lane) fn messages(&self) -> (usize, u64) {
        let open = self.open();
        (open.len(), open.iter().map(|one| one.messages()).sum())
    }

    /// Counts connections by the device's queue by which their last data came. Makes a system call for each.
    pub(crate) fn count_receive_queues(&self, counts: &mut BTreeMap<u32, usize>) {
        for queue in self.open().iter().filter_map(|one| one.napi_id()) {
            *counts.entry(queue).or_default() += 1;
        }
    }

    /// Returns the open connections. Dropping the last reference to one takes the lock again.
    fn open(&self) -> Vec<Arc<dyn Accepted>> {
        let state = self.lock();
        let connections = state.open.values();
        connections
            .filter_map(|one| one.connection.upgrade())
            .collect()
    }

    /// Adds an accepted connection, and returns the number to be passed to [`Connections::leave`].
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

    /// Makes sure that one more connection from a host fits into `limit`. Closes connections that
    /// were idle for at least `quiet` if there is no room.
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
        // Connections that were asked to close still exist.
        if state.open.len() >= limit.saturating_mul(2) {
            return Err(Full);
        }
        let looks = state
            .last_empty_search
            .is_none_or(|last| now.saturating_duration_since(last) >= LOOK_AGAIN);
        let looked = quiet
            .filter(|_| looks)
            .map(|quiet| state.choose(now, quiet, limit / MANY + 1));
        if let Some(looked) = &looked {
            state.last_empty_search = looked.leaving.is_empty().then_some(now);
        }
        let few = limit / RESERVE;
        let has_few = state.hosts.get(from).copied().unwrap_or_default() < few;
        let has_room = state.count < limit || has_few && state.count < limit + few;
        drop(state);
        self.close_chosen(looked.unwrap_or_default());
        has_room.then_some(()).ok_or(Full)
    }

    /// Closes some connections that were idle for at least `quiet`, regardless of the limit, as the
    /// process has no file descriptor left.
    pub(crate) fn close_some(&self, quiet: Duration) {
        let mut state = self.lock();
        let most = state.count / MANY + 1;
        let looked = state.choose(Instant::now(), quiet, most);
        drop(state);
        self.close_chosen(looked);
    }

    /// Updates how long each connection has been idle, and closes those that were idle for at least
    /// `idle`.
    pub(super) fn look(&self, idle: Option<Duration>) {
        let now = Instant::now();
        let mut state = self.lock();
        let looked = match idle {
            Some(idle) => state.choose(now, idle, usize::MAX),
            None => state.look(now),
        };
        drop(state);
        self.close_chosen(looked);
    }

    /// Closes the chosen connections. Those that are no longer idle stay, and count again. To be
    /// called without the lock.
    fn close_chosen(&self, looked: Search) {
        for (number, one) in &looked.leaving {
            if !one.make_room() {
                self.lock().stays(*number);
            }
        }
    }

    /// Closes the connections that were accepted at the selected endpoints; their calls in progress
    /// finish.
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

    /// Closes all accepted connections, and makes waiting threads return.
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

    /// Waits until a client is connected, and then for `interval`; returns the connections, or
    /// `None` when there will be no more clients.
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
        // Dropping the last reference to a connection takes the lock again, so the caller drops
        // them.
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

    /// Keeps a connection that was asked to close and is no longer idle.
    fn stays(&mut self, number: u64) {
        if let Some(entry) = self.open.get_mut(&number) {
            entry.leaves = false;
            entry.quiet = None;
            self.count += 1;
            *self.hosts.entry(entry.from.clone()).or_default() += 1;
        }
    }

    /// Updates the record of how long each accepted connection has been idle.
    fn look(&mut self, now: Instant) -> Search {
        let mut looked = Search::default();
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

    /// Chooses at most `most` connections to close: first those that never sent anything, then, of
    /// the host that has most connections, the one that was idle for longest.
    fn choose(&mut self, now: Instant, quiet: Duration, most: usize) -> Search {
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

    /// Connection that has received one message and is idle, according to its counters.
    #[derive(Debug)]
    struct Quiet {
        queue: Option<u32>,
        /// True if the connection closes when asked to; false if it reports that it is no longer
        /// idle.
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

        fn napi_id(&self) -> Option<u32> {
            self.queue
        }

        fn has_unread(&self) -> bool {
            false
        }

        fn make_room(&self) -> bool {
            self.goes
        }

        fn stalled_at(&self) -> Option<u64> {
            None
        }

        fn hand_over_if_needed(self: Arc<Self>, _: u64) {}
    }

    #[test]
    fn connections_are_counted_by_the_queue_that_their_data_comes_by() {
        let connections = Connections::default();
        let all = [Some(8193), None, Some(8194), Some(8193)].map(|queue| {
            let one: Arc<dyn Accepted> = Arc::new(Quiet { goes: true, queue });
            connections.join(Arc::downgrade(&one), Arc::from("host"));
            one
        });
        let mut counts = BTreeMap::new();
        connections.count_receive_queues(&mut counts);
        assert_eq!(counts, BTreeMap::from([(8193, 2), (8194, 1)]));
        drop(all);
    }

    #[test]
    fn one_that_is_told_to_go_counts_again_where_it_is_not_idle_any_more() {
        for (goes, left) in [(true, 0), (false, 1)] {
            let (connections, host) = (Connections::default(), Arc::from("host"));
            let one: Arc<dyn Accepted> = Arc::new(Quiet { goes, queue: None });
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
