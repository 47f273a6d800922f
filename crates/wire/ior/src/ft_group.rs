//! Components of Fault Tolerant CORBA (CORBA 3.0, chapter 23), which say of which object group a reference is.
//!
//! ```text
//! TAG_FT_GROUP:             encapsulation { octet major; octet minor; string ft_domain_id;
//!                                           unsigned long long object_group_id;
//!                                           unsigned long object_group_ref_version; }
//! TAG_FT_PRIMARY:           encapsulation { boolean primary; }
//! TAG_FT_HEARTBEAT_ENABLED: encapsulation { boolean heartbeat_enabled; }
//! ```

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};

use crate::tagged::{TaggedComponent, encapsulate};
use crate::tags::component as tag;

/// Version of TAG_FT_GROUP that is written; a later minor version is read as this one.
const VERSION: (u8, u8) = (1, 0);

/// Contents of a TAG_FT_GROUP component: the object group of which a reference is, and the version of that reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FtGroup {
    /// Fault tolerance domain in which the group's id is unique: at most [`FtGroup::MOST_DOMAIN`] bytes.
    pub domain: String,
    /// Id of the group in its domain.
    pub id: u64,
    /// Version of the group's reference, which grows as members come and go.
    pub version: u32,
}

impl FtGroup {
    /// Maximum length of a domain's name, in bytes.
    pub const MOST_DOMAIN: u32 = 256;

    /// Maximum number of members whose profiles are in one reference of a group.
    pub const MOST_MEMBERS: usize = 32;

    /// Returns whether both are of one group, whichever their versions.
    #[must_use]
    pub fn is_same_group(&self, other: &Self) -> bool {
        self.id == other.id && self.domain == other.domain
    }
}

impl Marshal for FtGroup {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        check_domain(self.domain.len())?;
        out.put_u8(VERSION.0);
        out.put_u8(VERSION.1);
        out.put_string_in(NarrowCodeSet::Utf8, &self.domain)?;
        out.put_u64(self.id);
        out.put_u32(self.version);
        Ok(())
    }
}

impl Unmarshal for FtGroup {
    const MIN_SIZE: usize = 28;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let (major, _) = (input.get_u8()?, input.get_u8()?);
        if major != VERSION.0 {
            return Err(CdrError::Invalid("the version of TAG_FT_GROUP is not 1.x"));
        }
        let domain = input.get_string_in(NarrowCodeSet::Utf8)?;
        check_domain(domain.len())?;
        Ok(Self {
            domain: Cow::into_owned(domain),
            id: input.get_u64()?,
            version: input.get_u32()?,
        })
    }
}

fn check_domain(length: usize) -> Result<(), CdrError> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match length <= FtGroup::MOST_DOMAIN {
        true => Ok(()),
        false => Err(CdrError::LengthOverLimit {
            length,
            limit: FtGroup::MOST_DOMAIN,
        }),
    }
}

impl TaggedComponent {
    /// Makes a `FT_GROUP` component.
    ///
    /// # Errors
    /// Those of an invalid domain: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn ft_group(group: &FtGroup) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::FT_GROUP,
            data: encapsulate(|data| group.marshal(data))?,
        })
    }

    /// Creates a `FT_PRIMARY` component, which marks a profile of the group's primary member.
    #[must_use]
    pub fn ft_primary(primary: bool) -> Self {
        Self::of_boolean(tag::FT_PRIMARY, primary)
    }

    /// Creates a `FT_HEARTBEAT_ENABLED` component: whether the server answers heartbeats.
    #[must_use]
    pub fn ft_heartbeat_enabled(enabled: bool) -> Self {
        Self::of_boolean(tag::FT_HEARTBEAT_ENABLED, enabled)
    }

    fn of_boolean(tag: u32, value: bool) -> Self {
        let data = encapsulate(|data| value.marshal(data));
        Self {
            tag,
            data: data.unwrap_or_default(),
        }
    }
}
