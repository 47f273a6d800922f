//! Who waits for which reply on a connection.
//!
//! A request id is even (the connection's originator, CORBA 3.3 part 2, §9.8.1) and holds a place in
//! the table and that place's generation, so that a reply finds its caller in one step and a late
//! one, whose caller has given up, finds nobody.

use crate::messaging::{InboxError, Message};
use punctual_exec::Deadline;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Calls that may wait on one connection at once.
pub(crate) const MAX_WAITING: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 14;
const GENERATIONS: u32 = 1 << (31 - INDEX_BITS);

/// Where a caller waits.
#[derive(Debug)]
pub(crate) struct Slot {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    state: State,
    /// Whether the caller sleeps: nobody else is worth a system call to wake.
    asleep: bool,
    /// Whether the caller waits for its reply, and so would read. One that still sends would not.
    willing: bool,
}

#[derive(Debug)]
enum State {
    Waiting,
    /// Nobody reads the connection: this caller is to do so.
    Promoted,
    Arrived(Message),
    Broken(Broken),
}

/// Why a connection serves no more.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// The peer said CloseConnection: what it had not answered, it has not begun (§9.4.7).
    pub(crate) orderly: bool,
    /// For people.
    pub(crate) reason: Arc<str>,
}

impl Broken {
    /// Broken off for a reason of this side's, or of the network's.
    pub(crate) fn off(reason: impl Into<Arc<str>>) -> Self {
        Self {
            orderly: false,
            reason: reason.into(),
        }
    }

    /// By an error in receiving.
    pub(crate) fn of(error: &InboxError) -> Self {
        match error {
            InboxError::Link(error) => Self::off(error.cause.to_string()),
            error => Self::off(error.to_string()),
        }
    }
}

/// What a waiting caller woke up to.
pub(crate) enum Woken {
    Arrived(Message),
    Broken(Broken),
    Promoted,
    TimedOut,
}

impl Slot {
    fn new() -> Self {
        Self {
            inner: Mutex::new(Inner {
                state: State::Waiting,
                asleep: false,
                willing: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// What has come so far, without waiting.
    pub(crate) fn poll(&self) -> Option<Woken> {
        take(&mut self.lock().state)
    }

    /// Waits until something comes.
    pub(crate) fn wait(&self, deadline: Deadline) -> Woken {
        let mut inner = self.lock();
        loop {
            if let Some(woken) = take(&mut inner.state) {
                return woken;
            }
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return Woken::TimedOut;
            }
            inner.asleep = true;
            inner = match left {
                None => self
                    .changed
                    .wait(inner)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.changed.wait_timeout(inner, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            inner.asleep = false;
        }
    }

    /// From now on the caller may be chosen as reader. To be said before it looks whether somebody
    /// reads: whoever lets go of reading after that look sees it.
    pub(crate) fn is_willing(&self) {
        self.lock().willing = true;
    }

    /// The caller waits no more.
    pub(crate) fn retire(&self) {
        self.lock().willing = false;
    }

    pub(crate) fn deliver(&self, message: Message) {
        self.change(self.lock(), State::Arrived(message));
    }

    fn fail(&self, broken: Broken) {
        let inner = self.lock();
        // A reply that has arrived is not taken away again.
        if !matches!(inner.state, State::Arrived(_)) {
            self.change(inner, State::Broken(broken));
        }
    }

    /// Makes a waiting caller the reader; false when it does not wait, or has its answer already.
    fn promote(&self) -> bool {
        let inner = self.lock();
        let reads = inner.willing && matches!(inner.state, State::Waiting | State::Promoted);
        if reads {
            self.change(inner, State::Promoted);
        }
        reads
    }

    fn change(&self, mut inner: MutexGuard<'_, Inner>, to: State) {
        inner.state = to;
        if inner.asleep {
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(state: &mut State) -> Option<Woken> {
    match std::mem::replace(state, State::Waiting) {
        State::Waiting => None,
        State::Promoted => Some(Woken::Promoted),
        State::Arrived(message) => Some(Woken::Arrived(message)),
        State::Broken(broken) => Some(Woken::Broken(broken)),
    }
}

/// The callers that wait on one connection.
#[derive(Debug, Default)]
pub(crate) struct ReplyTable {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Slots at rest, for the next calls.
    resting: Vec<Arc<Slot>>,
}

#[derive(Debug)]
struct Entry {
    generation: u32,
    slot: Option<Arc<Slot>>,
}

impl ReplyTable {
    /// A place for one more caller; `None` when [`MAX_WAITING`] wait already.
    pub(crate) fn register(&mut self) -> Option<(u32, Arc<Slot>)> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.entries.len() < MAX_WAITING => {
                self.entries.push(Entry {
                    generation: 0,
                    slot: None,
                });
                u32::try_from(self.entries.len() - 1).ok()?
            }
            None => return None,
        };
        let slot = self.resting.pop().unwrap_or_else(|| Arc::new(Slot::new()));
        let entry = self.entries.get_mut(index as usize)?;
        entry.slot = Some(slot.clone());
        Some(((entry.generation << INDEX_BITS | index) << 1, slot))
    }

    /// Gives a place back; a reply that comes later finds nobody. The slot rests for the next call.
    pub(crate) fn remove(&mut self, id: u32, slot: Arc<Slot>) {
        let index = index_of(id);
        if let Some(entry) = self.entries.get_mut(index as usize) {
            entry.slot = None;
            entry.generation = (entry.generation + 1) % GENERATIONS;
            self.free.push(index);
        }
        {
            let mut inner = slot.lock();
            inner.state = State::Waiting;
            inner.willing = false;
        }
        self.resting.push(slot);
    }

    /// Who waits for this reply.
    pub(crate) fn find(&self, id: u32) -> Option<&Arc<Slot>> {
        let entry = self.entries.get(index_of(id) as usize)?;
        let current = entry.generation << INDEX_BITS | index_of(id);
        entry.slot.as_ref().filter(|_| id == current << 1)
    }

    /// Chooses a new reader among those who wait.
    pub(crate) fn promote_one(&self) {
        if self.free.len() < self.entries.len() {
            let _found = self.slots().any(|slot| slot.promote());
        }
    }

    /// Tells all who wait that nothing more will come.
    pub(crate) fn fail_all(&self, broken: &Broken) {
        for slot in self.slots() {
            slot.fail(broken.clone());
        }
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    fn slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.entries.iter().filter_map(|entry| entry.slot.as_ref())
    }
}

fn index_of(id: u32) -> u32 {
    (id >> 1) & ((1 << INDEX_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_even_and_a_stale_one_finds_nobody() {
        let mut table = ReplyTable::default();
        let (first, slot) = table.register().unwrap();
        assert_eq!(first % 2, 0);
        assert!(table.find(first).is_some());
        table.remove(first, slot);
        let (second, _slot) = table.register().unwrap();
        assert_eq!(index_of(first), index_of(second));
        assert_ne!(first, second);
        assert!(table.find(first).is_none());
        assert!(table.find(second).is_some());
        assert!(table.find(second | 1).is_none());
        assert!(table.find(u32::MAX).is_none());
    }

    #[test]
    fn generations_wrap_within_the_id() {
        let mut table = ReplyTable::default();
        for _ in 0..=GENERATIONS {
            let (id, slot) = table.register().unwrap();
            assert!(table.find(id).is_some());
            table.remove(id, slot);
        }
    }

    #[test]
    fn the_table_is_bounded() {
        let mut table = ReplyTable::default();
        let kept: Vec<_> = (0..MAX_WAITING)
            .map(|_| table.register().unwrap())
            .collect();
        assert!(table.register().is_none());
        let (id, slot) = kept.into_iter().next().unwrap();
        table.remove(id, slot);
        assert!(table.register().is_some());
    }

    #[test]
    fn a_failure_reaches_all_who_wait_and_takes_no_reply_away() {
        let mut table = ReplyTable::default();
        let (_, waiting) = table.register().unwrap();
        table.fail_all(&Broken {
            orderly: true,
            reason: "closed".into(),
        });
        assert!(matches!(
            waiting.poll(),
            Some(Woken::Broken(Broken { orderly: true, .. }))
        ));
    }

    #[test]
    fn only_a_caller_that_waits_is_chosen_as_reader() {
        let mut table = ReplyTable::default();
        let (_, sends) = table.register().unwrap();
        let (_, waits) = table.register().unwrap();
        let (_, is_done) = table.register().unwrap();
        waits.is_willing();
        is_done.is_willing();
        is_done.retire();
        table.promote_one();
        assert!(sends.poll().is_none());
        assert!(is_done.poll().is_none());
        assert!(matches!(waits.poll(), Some(Woken::Promoted)));
    }

    #[test]
    fn a_slot_that_rested_serves_its_next_caller_anew() {
        let mut table = ReplyTable::default();
        let (id, slot) = table.register().unwrap();
        slot.is_willing();
        table.remove(id, slot);
        let (_, again) = table.register().unwrap();
        table.promote_one();
        assert!(again.poll().is_none());
        again.is_willing();
        table.promote_one();
        assert!(matches!(again.poll(), Some(Woken::Promoted)));
    }
}
