//! References of a given length.
//!
//! A component without a meaning fills the remaining room; where there is no room for one, octets
//! behind the profile's known members fill it: readers skip them as later additions. Profiles of
//! version 1.0 have neither: no octets may follow their members (omniORB refuses them).

use super::search::FoundReference;
use super::side::Side;
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Marshal};
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};

/// Tag of the component that fills the remaining room: `PUN` and a number.
const PADDING: u32 = 0x5055_4e02;
/// Least size of a component: tag and length, in bytes.
const COMPONENT: usize = 8;
/// Alignment, in bytes, of the data that follows a tagged component.
const ALIGNMENT: usize = 4;

/// Returns the reference that replaces a found one: to the object with the same key, on side `to`,
/// of the same length; `None` if no such reference has that length.
pub(super) fn replacement(found: &FoundReference, to: &Side, order: ByteOrder) -> Option<Vec<u8>> {
    let (room, key) = (found.place.len(), &found.object_key);
    let ior = of_length(room, &found.type_id, key, to, &found.others)?;
    Some(encoded(&ior, order)).filter(|octets| octets.len() == room)
}

/// Makes a reference to an object on a side, with the profiles `others` added, that takes exactly
/// `room` octets.
pub(super) fn of_length(
    room: usize,
    type_id: &str,
    object_key: &[u8],
    side: &Side,
    others: &[TaggedProfile],
) -> Option<Ior> {
    let ior = |own: Vec<TaggedProfile>| Ior {
        type_id: type_id.to_owned(),
        profiles: own.into_iter().chain(others.iter().cloned()).collect(),
    };
    let length = |own: &[TaggedProfile]| length_of(type_id, own.iter().chain(others));
    side.choices().find_map(|endpoints| {
        let own = |more: &[TaggedComponent]| side.profiles(endpoints, object_key, more).ok();
        let mut bare = own(&[])?;
        let left = room.checked_sub(length(&bare))?;
        if left == 0 {
            return Some(ior(bare));
        }
        let padded = |size| {
            let padding = TaggedComponent {
                tag: PADDING,
                data: vec![0; size],
            };
            // Several profiles would each have one.
            own(&[padding]).filter(|own| own.len() == 1)
        };
        // Alignment before the component, and behind it, may take some of the room, too.
        let most = left.checked_sub(COMPONENT);
        let mut sizes = most
            .into_iter()
            .flat_map(|most| (0..2 * ALIGNMENT).filter_map(move |less| most.checked_sub(less)));
        if let Some(own) = sizes.find_map(|size| padded(size).filter(|own| length(own) == room)) {
            return Some(ior(own));
        }
        if side.version == GiopVersion::V1_0 {
            return None;
        }
        let last = bare.last_mut()?;
        last.data.resize(last.data.len() + left, 0);
        Some(bare).filter(|own| length(own) == room).map(ior)
    })
}

/// Returns the length of a reference on the wire.
pub(super) fn length(ior: &Ior) -> usize {
    length_of(&ior.type_id, &ior.profiles)
}

/// Returns the length of `string type_id; sequence<struct { unsigned long tag; sequence<octet>
/// data; }>`, the text in ISO 8859-1.
fn length_of<'p>(type_id: &str, profiles: impl IntoIterator<Item = &'p TaggedProfile>) -> usize {
    let text = 4 + type_id.chars().count() + 1;
    let count = text.next_multiple_of(4) + 4;
    profiles.into_iter().fold(count, |length, profile| {
        length.next_multiple_of(4) + 8 + profile.data.len()
    })
}

fn encoded(ior: &Ior, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.reserve(length(ior));
    // A reference that cannot be encoded has no length that fits.
    match ior.marshal(&mut out) {
        Ok(()) => out.into_block().into_vec(),
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_reference_is_told_without_writing_it() {
        let profile = |octets| TaggedProfile {
            tag: 9,
            data: vec![7; octets],
        };
        for type_id in ["", "IDL:a:1.0", "IDL:\u{e9}:1.0"] {
            for profiles in [vec![], vec![5], vec![8, 0, 3], vec![1, 1, 1, 1]] {
                let ior = Ior {
                    type_id: type_id.to_owned(),
                    profiles: profiles.into_iter().map(profile).collect(),
                };
                assert_eq!(length(&ior), encoded(&ior, ByteOrder::Big).len(), "{ior:?}");
            }
        }
    }
}
