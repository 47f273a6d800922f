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

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            type_id: input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Cow::into_owned)?,
            profiles: Vec::unmarshal(input)?,
        })
    }
}
