//! Timers of a wheel, and the lists in which they stand.

/// Key of a timer. Keys of timers that were removed are never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    number: u64,
    index: u32,
}

/// Neighbours in a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Links {
    pub(super) previous: Option<u32>,
    pub(super) next: Option<u32>,
}

/// Timers; those that are started stand in lists.
#[derive(Debug)]
pub(super) struct Slots<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    next_number: u64,
}

#[derive(Debug)]
struct Entry<T> {
    number: u64,
    /// `None` in a free entry.
    value: Option<T>,
    at: u64,
    tick: u64,
    /// `None` in a timer that is not started.
    links: Option<Links>,
}

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            next_number: 0,
        }
    }

    pub(super) fn add(&mut self, value: T) -> Key {
        let number = self.next_number;
        self.next_number += 1;
        let entry = Entry {
            number,
            value: Some(value),
            at: 0,
            tick: 0,
            links: None,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = entry;
                index
            }
            None => {
                self.entries.push(entry);
                // Consumers, and the timers of each, are limited to far fewer.
                u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
            }
        };
        Key { number, index }
    }

    pub(super) fn remove(&mut self, key: Key) {
        if let Some(entry) = self.entry(key) {
            entry.value = None;
            entry.links = None;
            self.free.push(key.index);
        }
    }

    pub(super) fn value(&mut self, key: Key) -> Option<&T> {
        self.entry(key)?.value.as_ref()
    }

    /// Puts a timer in front of a list, and returns its index, the list's new first.
    pub(super) fn started(
        &mut self,
        key: Key,
        at: u64,
        tick: u64,
        first: Option<u32>,
    ) -> Option<u32> {
        let entry = self.entry(key)?;
        (entry.at, entry.tick) = (at, tick);
        entry.links = Some(Links {
            previous: None,
            next: first,
        });
        if let Some(links) = self.links(first) {
            links.previous = Some(key.index);
        }
        Some(key.index)
    }

    /// Takes a timer out of its list. Returns its tick and the neighbours that it had; `None` if it was not started.
    pub(super) fn stopped(&mut self, key: Key) -> Option<(u64, Links)> {
        let entry = self.entry(key)?;
        let (tick, links) = (entry.tick, entry.links.take()?);
        if let Some(previous) = self.links(links.previous) {
            previous.next = links.next;
        }
        if let Some(next) = self.links(links.next) {
            next.previous = links.previous;
        }
        Some((tick, links))
    }

    /// Takes a timer out of a list that is being emptied from its front. Returns its key, time, tick and neighbours.
    pub(super) fn unlink(&mut self, index: u32) -> Option<(Key, u64, u64, Links)> {
        let entry = self.entries.get_mut(index as usize)?;
        let links = entry.links.take()?;
        let key = Key {
            number: entry.number,
            index,
        };
        Some((key, entry.at, entry.tick, links))
    }

    fn entry(&mut self, key: Key) -> Option<&mut Entry<T>> {
        let entry = self.entries.get_mut(key.index as usize)?;
        (entry.number == key.number && entry.value.is_some()).then_some(entry)
    }

    fn links(&mut self, index: Option<u32>) -> Option<&mut Links> {
        self.entries.get_mut(index? as usize)?.links.as_mut()
    }
}
