//! Names of operations, as they travel in plain requests.

use super::{LONGEST, LONGEST_CONTEXT, either};
use crate::service_context;

/// What was found to follow keys: names of operations, and no contexts or the beginning of one. In sets of two;
/// it grows while a set is too small, and then forgets the older one.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations(Vec<[KnownOperation; 2]>);

/// The name of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownOperation {
    /// From its length to the number of contexts, and if there is one to its length, as it travels; empty where
    /// none is known.
    pub(super) octets: Box<[u8]>,
    /// The octets of a context's data behind that, and with their padding.
    pub(super) context: Option<(usize, usize)>,
    pub(super) name: Box<str>,
    mark: u64,
}

impl Operations {
    /// Sets, at most. With [`LONGEST`] this bounds what a peer makes a thread remember: about half a MiB.
    const MOST: usize = 512;

    /// What `behind` begins with, if it is the name of an operation, and no contexts or a short one.
    #[inline]
    pub(super) fn known(&mut self, behind: &[u8], native: bool) -> Option<&KnownOperation> {
        let mark = Self::mark(behind, native)?;
        let mut place = Self::place(mark, self.0.len());
        let mut way = 0;
        match self.0.get(place) {
            Some([newer, _]) if newer.begins(behind, mark) => {}
            Some([_, older]) if older.begins(behind, mark) => way = 1,
            _ => {
                self.learn(behind, native, mark)?;
                place = Self::place(mark, self.0.len());
            }
        }
        self.0.get(place)?.get(way)
    }

    #[cold]
    fn learn(&mut self, behind: &[u8], native: bool, mark: u64) -> Option<()> {
        let learnt = KnownOperation::read(behind, native, mark)?;
        let set = self.0.get(Self::place(mark, self.0.len()));
        let is_full = set.is_none_or(|[_, older]| !older.octets.is_empty());
        if is_full && self.0.len() < Self::MOST {
            // Those that were known are learnt again, at other places.
            let sets = (self.0.len() * 2).max(1);
            self.0.clear();
            self.0.resize_with(sets, Default::default);
        }
        let place = Self::place(mark, self.0.len());
        let [newer, older] = self.0.get_mut(place)?;
        *older = std::mem::replace(newer, learnt);
        Some(())
    }

    /// Names differ at their ends: both go into it, and the length.
    #[inline]
    fn mark(behind: &[u8], native: bool) -> Option<u64> {
        let begin: &[u8; 8] = behind.first_chunk()?;
        let [l0, l1, l2, l3, ..] = *begin;
        let length = either([l0, l1, l2, l3], native) as usize;
        let end = behind.get(..length.checked_add(4)?)?.last_chunk();
        let end = u64::from_le_bytes(*end.unwrap_or(begin));
        let ends = u64::from_le_bytes(*begin) ^ end.rotate_left(23);
        Some(ends.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// From the upper bits, which all octets have a part in. `places` is a power of two, or 0.
    #[inline]
    fn place(mark: u64, places: usize) -> usize {
        (mark >> 48) as u16 as usize & places.wrapping_sub(1)
    }
}

impl KnownOperation {
    #[inline]
    fn begins(&self, behind: &[u8], mark: u64) -> bool {
        let begin = behind.get(..self.octets.len());
        self.mark == mark && begin.is_some_and(|begin| is_same(&self.octets, begin))
    }

    fn read(behind: &[u8], native: bool, mark: u64) -> Option<Self> {
        let (length, rest) = behind.split_first_chunk()?;
        let length = either(*length, native) as usize;
        let (name, _) = rest.split_at_checked(length)?;
        let (0, name) = name.split_last()? else {
            return None;
        };
        let name = std::str::from_utf8(name).ok()?;
        let rest = rest.get(length.checked_next_multiple_of(4)?..)?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let context = match either(*count, native) {
            0 => None,
            1 => {
                let (id, behind) = rest.split_first_chunk()?;
                let (length, behind) = behind.split_first_chunk()?;
                let length = either(*length, native) as usize;
                let id = either(*id, native);
                if is_looked_into(id) || length > LONGEST_CONTEXT {
                    return None;
                }
                rest = behind;
                Some((length, length.next_multiple_of(4)))
            }
            _ => return None,
        };
        let octets = behind.get(..behind.len() - rest.len())?;
        let is_short = octets.len() <= LONGEST && !name.contains('\0');
        is_short.then(|| Self {
            octets: octets.into(),
            name: name.into(),
            context,
            mark,
        })
    }
}

/// Whether the context is one of those that the ORB itself reads, which is not done at a glance.
const fn is_looked_into(id: u32) -> bool {
    matches!(
        id,
        service_context::CODE_SETS
            | service_context::INVOCATION_POLICIES
            | service_context::BI_DIR_IIOP
    )
}

/// Whether octets are the same as so many others, which are at least eight; without a call, as they are few.
#[inline]
fn is_same(known: &[u8], others: &[u8]) -> bool {
    let words = known
        .as_chunks::<8>()
        .0
        .iter()
        .zip(others.as_chunks::<8>().0);
    let number = |word: &[u8; 8]| u64::from_ne_bytes(*word);
    // The last eight have what is left behind the words.
    let (Some(last), Some(other_last)) = (known.last_chunk(), others.last_chunk()) else {
        return false;
    };
    number(last) == number(other_last)
        && words
            .into_iter()
            .all(|(word, other)| number(word) == number(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it travels, behind a key.
    fn octets(name: &[u8]) -> Vec<u8> {
        let length = u32::try_from(name.len() + 1).unwrap();
        let mut octets = [&length.to_ne_bytes(), name, &[0]].concat();
        octets.resize(octets.len().next_multiple_of(4) + 4, 0);
        octets
    }

    fn is_known(operations: &mut Operations, name: &str) -> bool {
        let behind = [octets(name.as_bytes()), vec![7; 3]].concat();
        let known = operations.known(&behind, true).unwrap();
        *known.name == *name && known.octets.len() + 3 == behind.len()
    }

    fn remembered(operations: &Operations) -> usize {
        let all = operations.0.iter().flatten();
        all.filter(|known| !known.octets.is_empty()).count()
    }

    #[test]
    fn a_hundred_operations_of_one_interface_are_remembered_but_for_a_few() {
        let mut operations = Operations::default();
        for _ in 0..20 {
            for number in 0..100 {
                assert!(is_known(&mut operations, &format!("operation_{number:02}")));
            }
        }
        let remembered = remembered(&operations);
        assert!(remembered >= 95, "{remembered}");
    }

    #[test]
    fn one_operation_takes_one_place_and_any_number_no_more_than_there_may_be() {
        let mut operations = Operations::default();
        for _ in 0..3 {
            assert!(is_known(&mut operations, "ping"));
        }
        assert_eq!((operations.0.len(), remembered(&operations)), (1, 1));
        for number in 0..10_000 {
            assert!(is_known(&mut operations, &number.to_string()));
        }
        assert_eq!(operations.0.len(), Operations::MOST);
    }

    #[test]
    fn what_is_no_name_is_never_known() {
        let mut operations = Operations::default();
        let unended = [&8_u32.to_ne_bytes()[..], b"unended!", &[0; 4]].concat();
        for wrong in [
            octets(b"a\0b"),
            octets(b"\xff"),
            octets(&[b'a'; LONGEST]),
            unended,
            vec![0; 12],
            vec![0xff; 64],
        ] {
            assert!(operations.known(&wrong, true).is_none(), "{wrong:?}");
        }
        assert_eq!(remembered(&operations), 0);
    }
}
