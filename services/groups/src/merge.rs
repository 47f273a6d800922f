//! One reference with the profiles of several members.

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::Ior;

/// Maximum number of members whose profiles are in one reference.
pub const MOST_MERGED: usize = 32;

/// Maximum number of profiles in one merged reference.
const MOST_PROFILES: usize = 128;

/// Merges references, each given as the big-endian CDR of an IOR, into one that has the profiles of
/// the first reference and of all others with its type, each profile once. At most the first 32
/// references are merged, and at most 128 profiles, an equal share from each reference, as their
/// owners determine the number of profiles. Returns `None` if none of them can be read.
pub fn merged<'r>(references: impl IntoIterator<Item = &'r [u8]>) -> Option<Vec<u8>> {
    let read = |bytes: &[u8]| {
        let mut input = Decoder::new(bytes, ByteOrder::Big, Coding::default());
        Ior::unmarshal(&mut input).ok()
    };
    let references: Vec<&[u8]> = references.into_iter().take(MOST_MERGED).collect();
    let share = MOST_PROFILES / references.len().max(1);
    let mut all = references.into_iter().filter_map(read);
    let mut merged = all.next()?;
    merged.profiles.truncate(share);
    for other in all
        .filter(|other| other.type_id == merged.type_id)
        .collect::<Vec<_>>()
    {
        for profile in other.profiles.into_iter().take(share) {
            if !merged.profiles.contains(&profile) {
                merged.profiles.push(profile);
            }
        }
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    merged.marshal(&mut out).ok()?;
    Some(out.into_block().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_ior::TaggedProfile;

    /// Returns a reference with this number of profiles, which differ between members.
    fn reference(member: u8, profiles: u8) -> Vec<u8> {
        let profile = |number| TaggedProfile {
            tag: 0x5000_0000,
            data: vec![member, number],
        };
        let ior = Ior {
            type_id: "IDL:X:1.0".to_owned(),
            profiles: (0..profiles).map(profile).collect(),
        };
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        ior.marshal(&mut out).unwrap();
        out.into_block().to_vec()
    }

    fn merged_profiles(references: &[Vec<u8>]) -> Vec<TaggedProfile> {
        let bytes = merged(references.iter().map(Vec::as_slice)).unwrap();
        let mut input = Decoder::new(&bytes, ByteOrder::Big, Coding::default());
        Ior::unmarshal(&mut input).unwrap().profiles
    }

    #[test]
    fn each_profile_is_there_once() {
        let one = reference(1, 3);
        let merged = merged_profiles(&[one.clone(), reference(2, 2), one]);
        assert_eq!(merged.len(), 5);
    }

    #[test]
    fn a_member_with_very_many_profiles_leaves_the_others_their_share() {
        let greedy = (0..40).map(|member| reference(member, 200));
        let merged = merged_profiles(&greedy.collect::<Vec<_>>());
        assert_eq!(merged.len(), MOST_PROFILES);
        for member in 0..32 {
            let own = merged.iter().filter(|profile| profile.data[0] == member);
            assert_eq!(own.count(), 4, "{member}");
        }
    }
}
