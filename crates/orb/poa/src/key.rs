//! Object keys.
//!
//! ```text
//! octet  0   4                 12       16      20     24          28
//!        'PUN2' process's nonce adapter  serial  entry  generation
//!        'PUNN' process's nonce adapter  serial  entry  generation  id
//! ```
//! are keys of transient objects: `PUN2` of those whose id is their map entry, `PUNN` of those that
//! have another id, whose map entry is only a hint.
//!
//! ```text
//! octet  0   4      6                  6 + length
//!        'PUNP' length  path of the adapter  id
//! ```
//! is the key of a persistent object, whose path is the names of its adapter from the root down,
//! each ended by a NUL. It does not depend on the process, so that an object has the same reference
//! after each restart.
//!
//! ```text
//! octet  0   4      6                  6 + length
//!        'PUNR' length  id of the server  a key as above, without `PUNP`
//! ```
//! is the same for a server with an id that registers with an Implementation Repository, which finds the
//! server's name in the key.
//!
//! Numbers of a transient key are in the machine's own byte order: only this process reads them.
//! The length is big-endian. The nonce is random for each process and ORB, so that a transient key
//! from before a restart, or from another process at the same port, differs from a live one.
//! Nothing in a key is trusted.

use crate::object_map::EntryId;

/// Number of octets before the id in the key of a transient object.
const HEAD: usize = 28;
const ENTRY: [u8; 4] = *b"PUN2";
const NAMED: [u8; 4] = *b"PUNN";
const PERSISTENT: [u8; 4] = *b"PUNP";
const OF_SERVER: [u8; 4] = *b"PUNR";

/// Maximum length of an adapter's path in an object key, in octets.
pub(crate) const MAX_PATH: u16 = u16::MAX;

/// Value used in object keys when the map entry is unknown.
const NO_ENTRY: EntryId = EntryId {
    index: u32::MAX,
    generation: u32::MAX,
};

/// Random number that tells one ORB's keys from every other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Nonce([u8; 8]);

impl Nonce {
    /// Makes a nonce from the operating system's random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce)?;
        Ok(Self(nonce))
    }

    pub(crate) fn octets(self) -> [u8; 8] {
        self.0
    }

    /// Converts the nonce to a number; `of_number` converts it back.
    pub(crate) fn number(self) -> u64 {
        u64::from_ne_bytes(self.0)
    }

    pub(crate) fn of_number(number: u64) -> Self {
        Self(number.to_ne_bytes())
    }
}

/// Name of an adapter, unique among the present and former adapters of an ORB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AdapterName {
    pub(crate) index: u32,
    /// Serial number, by which the successive adapters with one index differ.
    pub(crate) serial: u32,
}

/// Id of an adapter, unique among those of all ORBs of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AdapterId {
    /// Random number of the ORB to which the adapter belongs.
    pub(crate) nonce: Nonce,
    pub(crate) name: AdapterName,
}

impl AdapterId {
    /// Returns the id in the form for applications (`the_POA::id`).
    pub(crate) fn octets(self) -> Vec<u8> {
        let AdapterName { index, serial } = self.name;
        [
            &self.nonce.octets()[..],
            &index.to_be_bytes(),
            &serial.to_be_bytes(),
        ]
        .concat()
    }
}

/// Decoded object key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'k> {
    /// Key of an object whose id is its map entry.
    Entry(AdapterName, EntryId),
    /// Key of an object with an id, and possibly the map entry at which it was active.
    Named {
        adapter: AdapterName,
        entry_id: Option<EntryId>,
        id: &'k [u8],
    },
    /// Key of an object whose adapter is found by its path.
    Persistent { path: &'k [u8], id: &'k [u8] },
    /// Object key of another ORB, or a damaged one.
    Foreign,
}

impl<'k> Key<'k> {
    /// Decodes an object key that came to the ORB with this nonce.
    #[inline]
    pub(crate) fn read(nonce: Nonce, key: &'k [u8]) -> Self {
        let Some((head, id)) = Head::read(key) else {
            return Self::read_persistent(key);
        };
        let (adapter, entry_id) = (head.adapter, head.entry_id);
        if head.magic == ENTRY && head.nonce == nonce && id.is_empty() {
            return Self::Entry(adapter, entry_id);
        }
        if head.magic == NAMED && head.nonce == nonce {
            return Self::Named {
                adapter,
                entry_id: (entry_id != NO_ENTRY).then_some(entry_id),
                id,
            };
        }
        Self::read_persistent(key)
    }

    fn read_persistent(key: &'k [u8]) -> Self {
        let read = || {
            let rest = match key.strip_prefix(&PERSISTENT) {
                Some(rest) => rest,
                None => counted(key.strip_prefix(&OF_SERVER)?)?.1,
            };
            let (path, id) = counted(rest)?;
            Some(Self::Persistent { path, id })
        };
        read().unwrap_or(Self::Foreign)
    }
}

/// Splits bytes with their length before them from those behind.
fn counted(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = octets.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

/// Writes the key of a transient object whose id is its map entry.
pub(crate) fn of_entry(nonce: Nonce, adapter: AdapterName, entry_id: EntryId) -> Vec<u8> {
    transient(ENTRY, (nonce, adapter, entry_id), &[])
}

/// Writes the key of a transient object that has an id, and possibly a map entry.
pub(crate) fn named(
    nonce: Nonce,
    adapter: AdapterName,
    entry_id: Option<EntryId>,
    id: &[u8],
) -> Vec<u8> {
    transient(NAMED, (nonce, adapter, entry_id.unwrap_or(NO_ENTRY)), id)
}

fn transient(
    magic: [u8; 4],
    (nonce, adapter, entry_id): (Nonce, AdapterName, EntryId),
    id: &[u8],
) -> Vec<u8> {
    let mut key = Vec::with_capacity(HEAD + id.len());
    key.extend(magic);
    key.extend(nonce.0);
    for number in [
        adapter.index,
        adapter.serial,
        entry_id.index,
        entry_id.generation,
    ] {
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

/// Writes the key of a persistent object of a server with an id, which has at most 255 bytes; without one, as
/// [`persistent`] does.
pub(crate) fn of_server(server_id: &str, path: &[u8], id: &[u8]) -> Vec<u8> {
    let key = persistent(path, id);
    let (Ok(length), Some(rest)) = (
        u16::try_from(server_id.len()),
        key.get(PERSISTENT.len()..)
            .filter(|_| !server_id.is_empty()),
    ) else {
        return key;
    };
    [
        &OF_SERVER,
        &length.to_be_bytes()[..],
        server_id.as_bytes(),
        rest,
    ]
    .concat()
}

/// Returns the names in the key of a persistent object of any ORB of this kind: the server's id, if it has one, and the
/// names of the adapters from the root down.
pub(crate) fn names_in(key: &[u8]) -> Option<(Option<&str>, Vec<&str>)> {
    let (server_id, rest) = match key.strip_prefix(&PERSISTENT) {
        Some(rest) => (None, rest),
        None => {
            let (id, rest) = counted(key.strip_prefix(&OF_SERVER)?)?;
            (Some(std::str::from_utf8(id).ok()?), rest)
        }
    };
    let (path, _) = counted(rest)?;
    let names = path.strip_suffix(&[0])?.split(|octet| *octet == 0);
    let names = names.map(|name| std::str::from_utf8(name).ok());
    Some((server_id, names.collect::<Option<_>>()?))
}

/// Beginning that the keys of all transient objects have in common.
struct Head {
    magic: [u8; 4],
    nonce: Nonce,
    adapter: AdapterName,
    entry_id: EntryId,
}

impl Head {
    #[inline]
    fn read(key: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = key.split_first_chunk::<HEAD>()?;
        let (magic, head) = head.split_first_chunk()?;
        let (nonce, head) = head.split_first_chunk()?;
        let (numbers, _) = head.as_chunks();
        let [index, serial, entry_id, generation] = *numbers.first_chunk()?;
        let number = u32::from_ne_bytes;
        let head = Self {
            magic: *magic,
            nonce: Nonce(*nonce),
            adapter: AdapterName {
                index: number(index),
                serial: number(serial),
            },
            entry_id: EntryId {
                index: number(entry_id),
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
    const ENTRY_ID: EntryId = EntryId {
        index: 7,
        generation: 0x0102_0304,
    };
    const NONCE: Nonce = Nonce([1; 8]);

    #[test]
    fn a_key_says_what_it_was_made_of() {
        let of_entry = of_entry(NONCE, ADAPTER, ENTRY_ID);
        assert_eq!(Key::read(NONCE, &of_entry), Key::Entry(ADAPTER, ENTRY_ID));
        for (entry_id, id) in [
            (Some(ENTRY_ID), &b"pump"[..]),
            (None, b"pump"),
            (Some(ENTRY_ID), b""),
        ] {
            let adapter = ADAPTER;
            let named = named(NONCE, adapter, entry_id, id);
            assert_eq!(
                Key::read(NONCE, &named),
                Key::Named {
                    adapter,
                    entry_id,
                    id
                }
            );
        }
        for id in [b"pump".as_slice(), b"", &[0xff; 64]] {
            let path = b"site\0hall\0";
            let said = Key::Persistent { path, id };
            assert_eq!(Key::read(NONCE, &persistent(path, id)), said);
        }
    }

    #[test]
    fn the_key_of_a_server_with_an_id_leads_to_the_same_object_and_has_the_names() {
        let path = b"site\0hall\0";
        for server_id in ["", "plant-7"] {
            let key = of_server(server_id, path, b"pump");
            let said = Key::Persistent { path, id: b"pump" };
            assert_eq!(Key::read(NONCE, &key), said);
            let (id, names) = names_in(&key).unwrap();
            assert_eq!(
                (id.unwrap_or_default(), &*names),
                (server_id, &["site", "hall"][..])
            );
            for length in 0..key.len() - 4 {
                assert_eq!(Key::read(NONCE, &key[..length]), Key::Foreign);
                assert_eq!(names_in(&key[..length]), None);
            }
        }
        assert_eq!(names_in(&of_entry(NONCE, ADAPTER, ENTRY_ID)), None);
    }

    #[test]
    fn a_transient_key_of_another_process_is_foreign() {
        let other = Nonce([2; 8]);
        for key in [
            of_entry(other, ADAPTER, ENTRY_ID),
            named(other, ADAPTER, Some(ENTRY_ID), b"pump"),
        ] {
            assert_eq!(Key::read(NONCE, &key), Key::Foreign);
        }
    }

    #[test]
    fn truncated_and_forged_keys_are_foreign() {
        let key = of_entry(NONCE, ADAPTER, ENTRY_ID);
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
