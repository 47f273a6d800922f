//! Object reference.

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};

use crate::error::IorError;
use crate::iiop::IiopProfile;
use crate::tagged::TaggedProfile;
use crate::tags;

/// Interoperable object reference (CORBA 3.3 part 2, §7.6.2): `struct { string type_id;
/// sequence<TaggedProfile> profiles; }`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ior {
    /// Repository id of the most derived interface; empty where it is unknown.
    pub type_id: String,
    /// Profiles by which the object can be reached, in the server's order; none for nil.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// Upper bound of the number of profiles of a reference that is read: each takes several times as much memory as on the
    /// wire, where an empty one takes 8 bytes. Groups of objects have one for each member.
    pub const MOST_PROFILES: u32 = 1024;

    /// Upper bound of the octets in the profiles of a reference that is read, together: a service that keeps a number of
    /// references keeps no more than this for each.
    pub const MOST_OCTETS: u32 = 256 << 10;

    /// Returns the nil reference, which has an empty type id and no profiles.
    #[must_use]
    pub const fn nil() -> Self {
        Self {
            type_id: String::new(),
            profiles: Vec::new(),
        }
    }

    /// Returns whether this is nil: there is no profile (§7.6.2). The type id is ignored.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }

    /// Returns the IIOP profiles in their order, each decoded or with its error.
    pub fn iiop_profiles(&self) -> impl Iterator<Item = Result<IiopProfile, IorError>> + '_ {
        self.profiles
            .iter()
            .filter(|profile| profile.tag == tags::profile::INTERNET_IOP)
            .map(|profile| IiopProfile::decode(&profile.data))
    }
}

impl Marshal for Ior {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        // A repository id is not the application's text: no negotiated code set applies to it.
        out.put_string_in(NarrowCodeSet::Iso8859_1, &self.type_id)?;
        self.profiles.marshal(out)
    }
}

impl Unmarshal for Ior {
    const MIN_SIZE: usize = 8;

    /// Reads a reference.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] of one with more than [`Ior::MOST_PROFILES`] or [`Ior::MOST_OCTETS`], and those of its
    /// parts.
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let type_id = input
            .get_string_in(NarrowCodeSet::Iso8859_1)
            .map(Cow::into_owned)?;
        let count = input.get_length(TaggedProfile::MIN_SIZE)?;
        within(count, Self::MOST_PROFILES)?;
        let profiles = TaggedProfile::unmarshal_vec(input, count)?;
        within(
            profiles.iter().map(|profile| profile.data.len()).sum(),
            Self::MOST_OCTETS,
        )?;
        Ok(Self { type_id, profiles })
    }
}

/// Checks that a length is not above a limit.
fn within(length: usize, limit: u32) -> Result<(), CdrError> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match length <= limit {
        true => Ok(()),
        false => Err(CdrError::LengthOverLimit { length, limit }),
    }
}
