//! Profiles that are decoded: ways to reach an object.

use punctual_cdr::{Coding, Decoder, Unmarshal};

use crate::diop::DiopProfile;
use crate::error::IorError;
use crate::iiop::IiopProfile;
use crate::multicast::UipmcProfile;
use crate::pair::PairProfile;
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags::profile as tag;
use crate::uiop::UiopProfile;

/// Decoded data of a tagged profile of a known type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// TAG_INTERNET_IOP profile: IIOP over TCP.
    Iiop(IiopProfile),
    /// TAG_MULTIPLE_COMPONENTS profile: components of the object that apply to all transports.
    MultipleComponents(Vec<TaggedComponent>),
    /// TAG_UIPMC profile: requests to a multicast group (MIOP).
    Uipmc(UipmcProfile),
    /// TAO's UIOP profile: GIOP over Unix domain sockets.
    Uiop(UiopProfile),
    /// TAO's shared memory: the address where the connection is set up.
    Shmiop(IiopProfile),
    /// TAO's DIOP profile: GIOP over UDP datagrams.
    Diop(DiopProfile),
    /// Punctual's pair of a messaging protocol and a link.
    Pair(PairProfile),
    /// Profile of a type that is not decoded.
    Other,
}

impl TaggedProfile {
    /// Decodes the data.
    ///
    /// # Errors
    /// An [`IorError`] if the data does not match its tag. An unknown tag gives [`Profile::Other`].
    pub fn decode(&self) -> Result<Profile, IorError> {
        Ok(match self.tag {
            tag::INTERNET_IOP => Profile::Iiop(IiopProfile::decode(&self.data)?),
            tag::MULTIPLE_COMPONENTS => {
                let mut input = Decoder::of_encapsulation(&self.data, Coding::default())?;
                Profile::MultipleComponents(Vec::unmarshal(&mut input)?)
            }
            tag::UIPMC => Profile::Uipmc(UipmcProfile::decode(&self.data)?),
            tag::TAO_UIOP => Profile::Uiop(UiopProfile::decode(&self.data)?),
            tag::TAO_SHMIOP => Profile::Shmiop(IiopProfile::decode(&self.data)?),
            tag::TAO_DIOP => Profile::Diop(DiopProfile::decode(&self.data)?),
            tag::PUNCTUAL_PAIR => Profile::Pair(PairProfile::decode(&self.data)?),
            _ => Profile::Other,
        })
    }
}
