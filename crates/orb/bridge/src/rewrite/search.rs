//! Octets that look like references: `string type_id; sequence<struct { ulong tag; sequence<octet> data; }>`
//! at a multiple of 4, with a profile that decodes and names a certain place.

use punctual_cdr::{ByteOrder, Coding, Decoder, NarrowCodeSet};
use punctual_ior::TaggedProfile;
use std::ops::Range;

const LONGEST_TYPE_ID: usize = 512;
const MOST_PROFILES: usize = 16;
const LONGEST_PROFILE: usize = 4096;
/// In one body, octets that look like references and then are none of those wanted; a body made of them
/// is not searched to its end.
const MOST_LOOKED_AT: usize = 4096;

/// A reference that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it stands in the body.
    pub(super) place: Range<usize>,
    pub(super) type_id: String,
    /// The object's key, where the side searched for knows it.
    pub(super) object_key: Vec<u8>,
    /// Profiles that name places of others.
    pub(super) others: Vec<TaggedProfile>,
}

/// The references in a body that begins at `phase` of its alignment, of which `key_of` knows a profile.
pub(super) fn references(
    body: &[u8],
    phase: usize,
    order: ByteOrder,
    key_of: impl Fn(u32, &[u8]) -> Option<Vec<u8>>,
) -> Vec<Found> {
    let mut found = Vec::new();
    let mut looked_at = 0;
    let mut at = phase.wrapping_neg() % 4;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        if looked_at > MOST_LOOKED_AT {
            tracing::debug!("a body looks too much like references to be searched to its end");
            break;
        }
        let Some((length, type_id, profiles)) = shape(rest, order) else {
            at += 4;
            continue;
        };
        looked_at += 1;
        match wanted(&profiles, &key_of) {
            Some((object_key, others)) => {
                found.push(Found {
                    place: at..at + length,
                    type_id,
                    object_key,
                    others,
                });
                at = (at + length + phase).next_multiple_of(4) - phase;
            }
            None => at += 4,
        }
    }
    found
}

type Profiles<'b> = Vec<(u32, &'b [u8])>;

/// The length of what looks like a reference, its type id and its profiles. Copies nothing but the id.
fn shape(octets: &[u8], order: ByteOrder) -> Option<(usize, String, Profiles<'_>)> {
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
    if count == 0 || count > MOST_PROFILES {
        return None;
    }
    let mut profiles = Vec::with_capacity(count);
    for _ in 0..count {
        let tag = input.get_u32().ok()?;
        let data = input.get_octets().ok()?;
        if data.len() > LONGEST_PROFILE {
            return None;
        }
        profiles.push((tag, data));
    }
    Some((input.position(), type_id.into_owned(), profiles))
}

/// The key, if a profile is known, and the profiles that are not.
fn wanted(
    profiles: &[(u32, &[u8])],
    key_of: impl Fn(u32, &[u8]) -> Option<Vec<u8>>,
) -> Option<(Vec<u8>, Vec<TaggedProfile>)> {
    let mut object_key = None;
    let mut others = Vec::new();
    for (tag, data) in profiles {
        match key_of(*tag, data) {
            Some(key) => {
                object_key.get_or_insert(key);
            }
            None => others.push(TaggedProfile {
                tag: *tag,
                data: data.to_vec(),
            }),
        }
    }
    Some((object_key?, others))
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

    /// The wanted profiles have tag 9.
    fn search(body: &[u8], phase: usize, order: ByteOrder) -> Vec<Range<usize>> {
        let key_of = |tag: u32, _: &[u8]| (tag == 9).then(|| b"key".to_vec());
        let found = references(body, phase, order, key_of);
        found.into_iter().map(|one| one.place).collect()
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
}
