//! Name of a multicast group (MIOP), in the component TAG_GROUP.
//!
//! ```text
//! encapsulation { octet major; octet minor; string group_domain_id; unsigned long long object_group_id;
//!                 unsigned long object_group_ref_version; }
//! ```

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};

use crate::version::IiopVersion;

/// Contents of a TAG_GROUP component: the group of objects to which a multicast reference leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupInfo {
    /// Version of the component: 1.0. Text of a reference begins with it.
    pub version: IiopVersion,
    /// Domain in which the group's id is unique: at most [`GroupInfo::MOST_DOMAIN`] bytes.
    pub domain: String,
    /// Id of the group in its domain.
    pub id: u64,
    /// Version of the group's reference; 0 where the reference does not say.
    pub reference_version: u32,
}

impl GroupInfo {
    /// Maximum length of a domain's name, in bytes.
    pub const MOST_DOMAIN: u32 = 256;

    /// Names a group by its domain and its id in it.
    #[must_use]
    pub fn new(domain: &str, id: u64) -> Self {
        Self {
            version: IiopVersion { major: 1, minor: 0 },
            domain: domain.to_owned(),
            id,
            reference_version: 0,
        }
    }

    /// Returns whether both are of one group, whichever the versions of their references.
    #[must_use]
    pub fn is_same_group(&self, other: &Self) -> bool {
        self.id == other.id && self.domain == other.domain
    }
}

impl Marshal for GroupInfo {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        check_domain(self.domain.len())?;
        out.put_u8(self.version.major);
        out.put_u8(self.version.minor);
        out.put_string_in(NarrowCodeSet::Utf8, &self.domain)?;
        out.put_u64(self.id);
        out.put_u32(self.reference_version);
        Ok(())
    }
}

impl Unmarshal for GroupInfo {
    const MIN_SIZE: usize = 28;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let (major, minor) = (input.get_u8()?, input.get_u8()?);
        if major != 1 {
            return Err(CdrError::Invalid("the version of TAG_GROUP is not 1.x"));
        }
        let domain = input.get_string_in(NarrowCodeSet::Utf8)?;
        check_domain(domain.len())?;
        Ok(Self {
            version: IiopVersion { major, minor },
            domain: Cow::into_owned(domain),
            id: input.get_u64()?,
            reference_version: input.get_u32()?,
        })
    }
}

fn check_domain(length: usize) -> Result<(), CdrError> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match length <= GroupInfo::MOST_DOMAIN {
        true => Ok(()),
        false => Err(CdrError::LengthOverLimit {
            length,
            limit: GroupInfo::MOST_DOMAIN,
        }),
    }
}
