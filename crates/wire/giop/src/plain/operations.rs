//! Cache of operation names, as encoded in plain requests.

use super::contexts::KnownContexts;
use super::limits::LONGEST;
use crate::numbers::either;

/// Cached bytes that follow keys: names of operations, and no contexts or the beginning of the first. In
/// sets of two; the cache grows while a set is too small, and then drops the older entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations(Vec<[KnownOperation; 2]>);

/// Cache entry for the name of an operation, with its encoded form.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownOperation {
    /// Encoded bytes from the name's length to the number of contexts, and to the context's length
    /// of the first if there are any; empty for an unused entry.
    pub(super) octets: Box<[u8]>,
    /// What of the contexts follows that.
    pub(super) contexts: KnownContexts,
    pub(super) name: Box<str>,
    mark: u64,
}

impl Operations {
    /// Upper bound of sets. With [`LONGEST`] this bounds the memory that a peer can make a thread
    /// use: about half a MiB.
    const MOST: usize = 512;

    /// Returns the entry that `behind` begins with: the name of an operation, and no contexts or the
    /// beginning of a short one.
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
            // Known entries are added again, at other places.
            let sets = (self.0.len() * 2).max(1);
            self.0.clear();
            self.0.resize_with(sets, Default::default);
        }
        let place = Self::place(mark, self.0.len());
        let [newer, older] = self.0.get_mut(place)?;
        *older = std::mem::replace(newer, learnt);
        Some(())
    }

    /// Computes a hash of length, first and last bytes: names differ at their ends.
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

    /// Returns the set of a hash, by its upper bits, which depend on all bytes. `places` is a power
    /// of two, or 0.
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
        let contexts = KnownContexts::read(either(*count, native), &mut rest, native)?;
        let octets = behind.get(..behind.len() - rest.len())?;
        let is_short = octets.len() <= LONGEST && !name.contains('\0');
        is_short.then(|| Self {
            octets: octets.into(),
            name: name.into(),
            contexts,
            mark,
        })
    }
}

/// Compares byte strings of equal length, at least eight, without a call, as they are short.
#[inline]
fn is_same(known: &[u8], others: &[u8]) -> bool {
    let words = known
        .as_chunks::<8>()
        .0
        .iter()
        .zip(others.as_chunks::<8>().0);
    let number = |word: &[u8; 8]| u64::from_ne_bytes(*word);
    // The last eight bytes cover the remainder behind the words.
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

    /// Encodes an operation name as it follows the key in a request.
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
