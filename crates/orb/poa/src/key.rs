//! Object keys.
//!
//! ```text
//! octet  0   4                 12       16      20     24          28
//!        'PUN2' process's nonce adapter  serial  place  generation
//!        'PUNN' process's nonce adapter  serial  place  generation  id
//! ```
//! are transient objects', of those whose id is their place, and of those that have another, whose place is
//! but a hint.
//!
//! ```text
//! octet  0   4      6                  6 + length
//!        'PUNP' length  path of the adapter  id
//! ```
//! is a persistent object's, whose path is the names of its adapter from the root down, each ended by a
//! NUL. It says nothing of the process, so that an object has the same reference after each restart.
//!
//! Numbers of a transient key are in the machine's own byte order: only this process reads them. The length
//! is big-endian. The nonce is random for each process and ORB, so that a transient key from
//! before a restart, or from another process at the same port, is told from a live one. Nothing in a key
//! is trusted.

use crate::object_map::Place;

/// Octets before the path or the id.
const HEAD: usize = 28;
const PLACED: [u8; 4] = *b"PUN2";
const NAMED: [u8; 4] = *b"PUNN";
const PERSISTENT: [u8; 4] = *b"PUNP";

/// Octets of the longest path.
pub(crate) const MAX_PATH: u16 = u16::MAX;

/// The place of an object whose place is not known.
const NOWHERE: Place = Place {
    index: u32::MAX,
    generation: u32::MAX,
};

/// What tells one ORB's keys from every other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Nonce([u8; 8]);

impl Nonce {
    /// No ORB's.
    pub(crate) const NONE: Self = Self([0; 8]);

    /// From the operating system's random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce)?;
        Ok(Self(nonce))
    }

    pub(crate) fn octets(self) -> [u8; 8] {
        self.0
    }
}

/// Names an adapter among those that an ORB has, and has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AdapterName {
    pub(crate) index: u32,
    /// No other adapter of this index has it.
    pub(crate) serial: u32,
}

/// What a key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'k> {
    /// An object whose id is its place.
    Placed(AdapterName, Place),
    /// An object that has an id, and perhaps the place that it had.
    Named {
        adapter: AdapterName,
        place: Option<Place>,
        id: &'k [u8],
    },
    /// An object of an adapter that is found by its path.
    Persistent { path: &'k [u8], id: &'k [u8] },
    /// It is none of ours, or damaged.
    Foreign,
}

impl<'k> Key<'k> {
    /// Reads a key that came to the ORB with this nonce.
    #[inline]
    pub(crate) fn read(nonce: Nonce, key: &'k [u8]) -> Self {
        let Some((head, id)) = Head::read(key) else {
            return Self::read_persistent(key);
        };
        let (adapter, place) = (head.adapter, head.place);
        if head.magic == PLACED && head.nonce == nonce && id.is_empty() {
            return Self::Placed(adapter, place);
        }
        if head.magic == NAMED && head.nonce == nonce {
            return Self::Named {
                adapter,
                place: (place != NOWHERE).then_some(place),
                id,
            };
        }
        Self::read_persistent(key)
    }

    fn read_persistent(key: &'k [u8]) -> Self {
        let read = || {
            let rest = key.strip_prefix(&PERSISTENT)?;
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (path, id) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            Some(Self::Persistent { path, id })
        };
        read().unwrap_or(Self::Foreign)
    }
}

/// Writes the key of a transient object whose id is its place.
pub(crate) fn placed(nonce: Nonce, adapter: AdapterName, place: Place) -> Vec<u8> {
    transient(PLACED, (nonce, adapter, place), &[])
}

/// Writes the key of a transient object that has an id, and perhaps a place.
pub(crate) fn named(
    nonce: Nonce,
    adapter: AdapterName,
    place: Option<Place>,
    id: &[u8],
) -> Vec<u8> {
    transient(NAMED, (nonce, adapter, place.unwrap_or(NOWHERE)), id)
}

fn transient(
    magic: [u8; 4],
    (nonce, adapter, place): (Nonce, AdapterName, Place),
    id: &[u8],
) -> Vec<u8> {
    let mut key = Vec::with_capacity(HEAD + id.len());
    key.extend(magic);
    key.extend(nonce.0);
    for number in [adapter.index, adapter.serial, place.index, place.generation] {
        key.extend(number.to_ne_bytes());
    }
    key.extend(id);
    key
}

/// Writes the key of a persistent object. No adapter has a path longer than [`MAX_PATH`].
pub(crate) fn persistent(path: &[u8], id: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(PERSISTENT.len() + 2 + path.len() + id.len());
    key.extend(PERSISTENT);
    key.extend(u16::try_from(path.len()).unwrap_or(MAX_PATH).to_be_bytes());
    key.extend(path);
    key.extend(id);
    key
}

/// What each key begins with.
struct Head {
    magic: [u8; 4],
    nonce: Nonce,
    adapter: AdapterName,
    place: Place,
}

impl Head {
    #[inline]
    fn read(key: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = key.split_first_chunk::<HEAD>()?;
        let (magic, head) = head.split_first_chunk()?;
        let (nonce, head) = head.split_first_chunk()?;
        let (numbers, _) = head.as_chunks();
        let [index, serial, place, generation] = *numbers.first_chunk()?;
        let number = u32::from_ne_bytes;
        let head = Self {
            magic: *magic,
            nonce: Nonce(*nonce),
            adapter: AdapterName {
                index: number(index),
                serial: number(serial),
            },
            place: Place {
                index: number(place),
                generation: number(generation),
            },
        };
        Some((head, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTER: AdapterName = AdapterName {
        index: 3,
        serial: 9,
    };
    const PLACE: Place = Place {
        index: 7,
        generation: 0x0102_0304,
    };
    const NONCE: Nonce = Nonce([1; 8]);

    #[test]
    fn a_key_says_what_it_was_made_of() {
        let placed = placed(NONCE, ADAPTER, PLACE);
        assert_eq!(Key::read(NONCE, &placed), Key::Placed(ADAPTER, PLACE));
        for (place, id) in [
            (Some(PLACE), &b"pump"[..]),
            (None, b"pump"),
            (Some(PLACE), b""),
        ] {
            let adapter = ADAPTER;
            let named = named(NONCE, adapter, place, id);
            assert_eq!(Key::read(NONCE, &named), Key::Named { adapter, place, id });
        }
        for id in [b"pump".as_slice(), b"", &[0xff; 64]] {
            let path = b"site\0hall\0";
            let said = Key::Persistent { path, id };
            assert_eq!(Key::read(NONCE, &persistent(path, id)), said);
        }
    }

    #[test]
    fn a_transient_key_of_another_process_is_foreign() {
        let other = Nonce([2; 8]);
        for key in [
            placed(other, ADAPTER, PLACE),
            named(other, ADAPTER, Some(PLACE), b"pump"),
        ] {
            assert_eq!(Key::read(NONCE, &key), Key::Foreign);
        }
    }

    #[test]
    fn truncated_and_forged_keys_are_foreign() {
        let key = placed(NONCE, ADAPTER, PLACE);
        for length in 0..key.len() {
            assert_eq!(Key::read(NONCE, &key[..length]), Key::Foreign);
        }
        let longer = [&key[..], b"!"].concat();
        assert_eq!(Key::read(NONCE, &longer), Key::Foreign);
        for at in 0..12 {
            let mut forged = key.clone();
            forged[at] ^= 1;
            assert_eq!(Key::read(NONCE, &forged), Key::Foreign, "octet {at}");
        }
        let key = persistent(b"site\0", b"");
        for length in 0..key.len() {
            assert_eq!(Key::read(NONCE, &key[..length]), Key::Foreign);
        }
    }
}
