//! Search for octets that look like references: `string type_id; sequence<struct { ulong tag;
//! sequence<octet> data; }>` at a multiple of 4, with a profile that decodes and names a certain
//! address.

use punctual_cdr::{ByteOrder, Coding, Decoder, NarrowCodeSet};
use punctual_ior::TaggedProfile;
use std::borrow::Cow;
use std::ops::Range;

const LONGEST_TYPE_ID: usize = 512;
const MOST_PROFILES: usize = 16;
const LONGEST_PROFILE: usize = 4096;
/// Upper bound of the octets read as possible references, as a multiple of the body's length: in a
/// hostile body, a possible reference may begin at each fourth octet. A body that exceeds the bound
/// is not searched to its end.
const TIMES_LOOKED_AT: usize = 2;
const LOOKED_AT_LEAST: usize = 16 * 1024;

/// Object reference found in a message body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundReference {
    /// Range of octets that the found reference occupies in the message body.
    pub(super) place: Range<usize>,
    pub(super) type_id: String,
    /// Object key, from a profile of the searched side.
    pub(super) object_key: Vec<u8>,
    /// Profiles that name no address of the searched side.
    pub(super) others: Vec<TaggedProfile>,
}

/// Search for references in a body. Between two steps, the caller may change the body up to the
/// last reference found.
pub(super) struct Search {
    /// Offset of the body's first octet from an alignment boundary.
    phase: usize,
    order: ByteOrder,
    /// Position in the message body at which the search for references continues.
    at: usize,
    /// Number of octets examined because they looked like object references.
    looked_at: usize,
}

impl Search {
    pub(super) fn new(phase: usize, order: ByteOrder) -> Self {
        Self {
            phase,
            order,
            at: phase.wrapping_neg() % 4,
            looked_at: 0,
        }
    }

    /// Returns the next reference with a profile for which `key_of` returns an object key.
    pub(super) fn next(
        &mut self,
        body: &[u8],
        key_of: impl Fn(u32, &[u8]) -> Option<Vec<u8>>,
    ) -> Option<FoundReference> {
        let most = body.len().saturating_mul(TIMES_LOOKED_AT);
        let most = most.max(LOOKED_AT_LEAST);
        while let Some(rest) = body.get(self.at..).filter(|rest| !rest.is_empty()) {
            if self.looked_at > most {
                tracing::debug!("a body looks too much like references to be searched to its end");
                return None;
            }
            let Some(shape) = Shape::of(rest, self.order) else {
                self.at += 4;
                continue;
            };
            let length = shape.length;
            self.looked_at = self.looked_at.saturating_add(length);
            let Some((object_key, others)) = wanted(&shape, &key_of) else {
                self.at += 4;
                continue;
            };
            let place = self.at..self.at + length;
            self.at = (place.end + self.phase).next_multiple_of(4) - self.phase;
            return Some(FoundReference {
                place,
                type_id: shape.type_id.into_owned(),
                object_key,
                others,
            });
        }
        None
    }
}

/// Octets that have the form of a reference, decoded in place: nothing is copied before a profile
/// is found that the bridge has to rewrite.
struct Shape<'b> {
    length: usize,
    type_id: Cow<'b, str>,
    profiles: [(u32, &'b [u8]); MOST_PROFILES],
    count: usize,
}

impl<'b> Shape<'b> {
    fn of(octets: &'b [u8], order: ByteOrder) -> Option<Self> {
        let mut input = Decoder::new(octets, order, Coding::default());
        let length = input.get_u32().ok()? as usize;
        if length == 0 || length > LONGEST_TYPE_ID {
            return None;
        }
        let begins = octets.get(4..8)?;
        if length > 1 && !matches!(begins, b"IDL:" | b"RMI:" | b"DCE:") {
            return None;
        }
        let mut input = Decoder::new(octets, order, Coding::default());
        let type_id = input.get_string_in(NarrowCodeSet::Iso8859_1).ok()?;
        let count = input.get_u32().ok()? as usize;
        if count == 0 {
            return None;
        }
        let mut profiles = [(0, &[][..]); MOST_PROFILES];
        for profile in profiles.get_mut(..count)? {
            *profile = (input.get_u32().ok()?, input.get_octets().ok()?);
            if profile.1.len() > LONGEST_PROFILE {
                return None;
            }
        }
        Some(Self {
            length: input.position(),
            type_id,
            profiles,
            count,
        })
    }

    fn profiles(&self) -> impl Iterator<Item = (u32, &'b [u8])> {
        self.profiles.into_iter().take(self.count)
    }
}

/// Returns the object key from the profile that `key_of` knows, with the profiles that it does not
/// know; `None` if it knows none.
fn wanted(
    shape: &Shape<'_>,
    key_of: impl Fn(u32, &[u8]) -> Option<Vec<u8>>,
) -> Option<(Vec<u8>, Vec<TaggedProfile>)> {
    // Each profile is decoded once.
    let mut object_key = None;
    let mut others = [(0, &[][..]); MOST_PROFILES];
    let mut count = 0;
    for (tag, data) in shape.profiles() {
        match key_of(tag, data) {
            Some(key) => {
                object_key.get_or_insert(key);
            }
            None => {
                if let Some(other) = others.get_mut(count) {
                    *other = (tag, data);
                    count += 1;
                }
            }
        }
    }
    let others = others.into_iter().take(count);
    let others = others.map(|(tag, data)| TaggedProfile {
        tag,
        data: data.to_vec(),
    });
    Some((object_key?, others.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::{Block, Encoder, Marshal};
    use punctual_ior::Ior;

    fn reference(type_id: &str, tag: u32) -> Ior {
        let data = vec![7; 13];
        Ior {
            type_id: type_id.to_owned(),
            profiles: vec![TaggedProfile { tag, data }],
        }
    }

    /// Searches a message body for references that have a profile with tag 9.
    fn search(body: &[u8], phase: usize, order: ByteOrder) -> Vec<Range<usize>> {
        let key_of = |tag: u32, _: &[u8]| (tag == 9).then(|| b"key".to_vec());
        let mut search = Search::new(phase, order);
        let found = std::iter::from_fn(|| search.next(body, key_of));
        found.map(|one| one.place).collect()
    }

    #[test]
    fn references_between_other_values_are_found_in_either_order_and_at_any_phase() {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for phase in [0, 4, 6] {
                let mut out = Encoder::new(Block::default(), order, Coding::default());
                out.put_bytes(&vec![0; phase]);
                out.put_string_in(NarrowCodeSet::Utf8, "before").unwrap();
                let mut places = Vec::new();
                for (type_id, tag) in [("IDL:a:1.0", 9), ("IDL:b:1.0", 8), ("", 9)] {
                    out.align(4);
                    let begin = out.position();
                    reference(type_id, tag).marshal(&mut out).unwrap();
                    if tag == 9 {
                        places.push(begin - phase..out.position() - phase);
                    }
                    out.put_u8(1);
                }
                let body = out.into_block().into_vec();
                assert_eq!(search(&body[phase..], phase, order), places);
            }
        }
    }

    #[test]
    fn octets_of_any_kind_are_searched_without_harm() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for length in 0..512 {
            let body: Vec<u8> = (0..length)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    [0, 0, 0, 1, 4, 9][usize::try_from(state % 6).unwrap()]
                })
                .collect();
            for found in search(&body, length % 8, ByteOrder::Little) {
                assert!(found.end <= body.len());
            }
        }
    }

    #[test]
    fn a_body_that_looks_like_references_everywhere_is_looked_at_in_proportion_to_its_length() {
        // From each word on, an empty id, one profile with tag 1 and an octet of data; and from
        // each fifth one on, one with sixteen profiles, the first of them long.
        for pattern in [&[1][..], &[1, 0, 16, 7, 4000]] {
            let words = pattern.iter().cycle().take(1 << 16);
            let body: Vec<u8> = words.flat_map(|word: &u32| word.to_be_bytes()).collect();
            let looked_at = std::cell::Cell::new(0);
            let key_of = |_: u32, data: &[u8]| {
                looked_at.set(looked_at.get() + data.len());
                None
            };
            assert_eq!(Search::new(0, ByteOrder::Big).next(&body, key_of), None);
            let times = looked_at.get() / body.len();
            assert!(times <= TIMES_LOOKED_AT, "{times}");
        }
    }

    #[test]
    fn references_that_are_not_wanted_are_searched_however_many_they_are() {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        for _ in 0..10_000 {
            reference("IDL:other:1.0", 8).marshal(&mut out).unwrap();
            out.align(4);
        }
        reference("IDL:wanted:1.0", 9).marshal(&mut out).unwrap();
        let body = out.into_block().into_vec();
        assert_eq!(search(&body, 0, ByteOrder::Big).len(), 1);
    }
}
