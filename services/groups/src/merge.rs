//! One reference with the profiles of several members.

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::Ior;

/// Maximum number of members whose profiles are in one reference.
const MOST_PROFILES: usize = 32;

/// Merges references, each the big-endian CDR of an IOR: the profiles of the first, and of all others of its type.
/// Returns `None` if none of them can be read.
pub fn merged<'r>(references: impl IntoIterator<Item = &'r [u8]>) -> Option<Vec<u8>> {
    let read = |bytes: &[u8]| {
        let mut input = Decoder::new(bytes, ByteOrder::Big, Coding::default());
        Ior::unmarshal(&mut input).ok()
    };
    let mut all = references.into_iter().filter_map(read);
    let mut merged = all.next()?;
    for other in all.take(MOST_PROFILES - 1) {
        if other.type_id == merged.type_id {
            let new = other.profiles.into_iter();
            let new: Vec<_> = new.filter(|one| !merged.profiles.contains(one)).collect();
            merged.profiles.extend(new);
        }
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    merged.marshal(&mut out).ok()?;
    Some(out.into_block().to_vec())
}
