//! Version of a profile, and the parts of a profile's body that depend on it.

use std::fmt;

use punctual_cdr::{CdrError, Decoder, GiopVersion, Unmarshal};

use crate::error::IorError;
use crate::tagged::TaggedComponent;

/// IIOP version in a profile, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IiopVersion {
    /// Major version of IIOP; only 1 is defined.
    pub major: u8,
    /// Minor version; one above 2 is treated as 2.
    pub minor: u8,
}

impl IiopVersion {
    /// Returns the highest GIOP version usable with an endpoint of this version, if any is known.
    #[must_use]
    pub const fn giop(self) -> Option<GiopVersion> {
        GiopVersion::common_with(self.major, self.minor)
    }

    /// Returns whether profiles of this IIOP version contain tagged components.
    #[must_use]
    pub const fn has_components(self) -> bool {
        self.minor > 0 || self.major > 1
    }
}

impl From<GiopVersion> for IiopVersion {
    fn from(version: GiopVersion) -> Self {
        Self {
            major: version.major(),
            minor: version.minor(),
        }
    }
}

impl fmt::Display for IiopVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

pub(crate) fn get_version(input: &mut Decoder<'_>) -> Result<IiopVersion, IorError> {
    let major = input.get_u8()?;
    let minor = input.get_u8()?;
    if major != 1 {
        return Err(IorError::UnsupportedVersion { major, minor });
    }
    Ok(IiopVersion { major, minor })
}

pub(crate) fn get_components(
    input: &mut Decoder<'_>,
    version: IiopVersion,
) -> Result<Vec<TaggedComponent>, CdrError> {
    if version.has_components() {
        Vec::unmarshal(input)
    } else {
        Ok(Vec::new())
    }
}
