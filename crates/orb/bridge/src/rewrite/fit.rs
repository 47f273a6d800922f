//! References of a given length.
//!
//! A component that means nothing takes up what is left over; where there is no room for one, octets behind
//! the profile's known members do, which readers pass over as they would later additions. Profiles of
//! version 1.0 have neither: nothing may stand behind their members (omniORB refuses what does).

use super::route::Side;
use super::search::Found;
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Marshal};
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};

/// The component that takes up room, `PUN` and a number.
const PADDING: u32 = 0x5055_4e02;
/// What a component takes at least, and at most beside its data: tag, length, and alignment before it
/// and behind it.
const COMPONENT: std::ops::RangeInclusive<usize> = 8..=16;

/// What takes the place of a reference: one to the object of the same key on the other side.
pub(super) fn replacement(found: &Found, to: &Side, order: ByteOrder) -> Option<Vec<u8>> {
    let (room, key) = (found.place.len(), &found.object_key);
    let ior = of_length(room, &found.type_id, key, to, &found.others, order)?;
    Some(encoded(&ior, order)).filter(|octets| octets.len() == room)
}

/// A reference to an object on a side that takes exactly `room` octets; with `others` for profiles, too.
pub(super) fn of_length(
    room: usize,
    type_id: &str,
    object_key: &[u8],
    side: &Side,
    others: &[TaggedProfile],
    order: ByteOrder,
) -> Option<Ior> {
    let ior = |own: Vec<TaggedProfile>| Ior {
        type_id: type_id.to_owned(),
        profiles: own.into_iter().chain(others.iter().cloned()).collect(),
    };
    let fits = |ior: &Ior| length(ior, order) == room;
    side.choices().find_map(|endpoints| {
        let own = |more: &[TaggedComponent]| side.profiles(endpoints, object_key, more).ok();
        let bare = own(&[])?;
        let left = room.checked_sub(length(&ior(bare.clone()), order))?;
        if left == 0 {
            return Some(ior(bare));
        }
        let padded = COMPONENT
            .filter_map(|taken| left.checked_sub(taken))
            .find_map(|size| {
                let padding = TaggedComponent {
                    tag: PADDING,
                    data: vec![0; size],
                };
                // Several profiles would each have one.
                let own = own(&[padding]).filter(|own| own.len() == 1)?;
                Some(ior(own)).filter(fits)
            });
        padded.or_else(|| {
            if side.version == GiopVersion::V1_0 {
                return None;
            }
            let mut own = bare;
            let last = own.last_mut()?;
            last.data.resize(last.data.len() + left, 0);
            Some(ior(own)).filter(fits)
        })
    })
}

/// What a reference takes on the wire.
pub(super) fn length(ior: &Ior, order: ByteOrder) -> usize {
    encoded(ior, order).len()
}

fn encoded(ior: &Ior, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    // One that cannot be encoded has no length that fits.
    match ior.marshal(&mut out) {
        Ok(()) => out.into_block().into_vec(),
        Err(_) => Vec::new(),
    }
}
