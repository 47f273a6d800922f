//! Names of objects: their entries, and their ids as the map stores them, in the slot itself if
//! they are short, so that comparing them touches no other memory.

use std::fmt;

/// Identifier of a map entry: one use of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryId {
    /// Index of the entry's slot in the map.
    pub(crate) index: u32,
    /// Number of times that the slot was used before this entry.
    pub(crate) generation: u32,
}

impl EntryId {
    /// Returns the octets that serve as the id of an object without another one: index and
    /// generation, big-endian.
    pub(crate) fn octets(self) -> [u8; 8] {
        let both = u64::from(self.index) << 32 | u64::from(self.generation);
        both.to_be_bytes()
    }

    /// Returns the entry that eight octets name, the inverse of [`EntryId::octets`]; `None` for
    /// another length.
    pub(crate) fn of(id: &[u8]) -> Option<Self> {
        let both = u64::from_be_bytes(id.try_into().ok()?);
        Some(Self {
            index: (both >> 32) as u32,
            generation: both as u32,
        })
    }
}

/// Upper bound of an id that is stored in the slot, in bytes.
const SHORT: usize = 22;

/// Object id of an active object, as its map entry stores it.
pub(crate) enum Name {
    /// Object id that consists of the octets of the map entry ([`EntryId::octets`]).
    EntryId,
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

impl Name {
    /// Stores an id. Allocates only for one of more than 22 octets.
    pub(crate) fn new(id: Option<&[u8]>) -> Self {
        let Some(id) = id else {
            return Self::EntryId;
        };
        let mut octets = [0; SHORT];
        match (octets.get_mut(..id.len()), u8::try_from(id.len())) {
            (Some(start), Ok(length)) => {
                start.copy_from_slice(id);
                Self::Short(length, octets)
            }
            _ => Self::Long(id.into()),
        }
    }

    /// Returns the octets of the id, given the entry of its object.
    pub(crate) fn octets(&self, entry_id: EntryId) -> Vec<u8> {
        match self.as_deref() {
            Some(id) => id.to_vec(),
            None => entry_id.octets().to_vec(),
        }
    }

    /// Returns the octets of the id; `None` if the entry is the id.
    #[inline]
    pub(crate) fn as_deref(&self) -> Option<&[u8]> {
        match self {
            Self::EntryId => None,
            Self::Short(length, octets) => octets.get(..usize::from(*length)),
            Self::Long(id) => Some(id),
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_deref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_id_whatever_its_length() {
        for length in [0, 1, 8, SHORT - 1, SHORT, SHORT + 1, 255, 256, 1000] {
            let id: Vec<u8> = (0..length).map(|octet| octet as u8).collect();
            assert_eq!(Name::new(Some(&id)).as_deref(), Some(&id[..]), "{length}");
        }
        assert_eq!(Name::new(None).as_deref(), None);
    }

    #[test]
    fn a_name_takes_three_words() {
        assert_eq!(size_of::<Name>(), 24);
    }
}
