//! DIOP profiles, in TAO's format: GIOP one-ways in datagrams.

use super::endpoint::host_and_port;
use super::{DecodedProfile, ProfileCodec, ProfileEndpoint, Publication, newest, priorities};
use crate::messaging::Giop;
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{DiopProfile, IorError, TaggedProfile, tags};
use punctual_link::{Address, diop};

/// Codec of profiles with TAO's DIOP tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiopCodec;

fn protocol() -> String {
    format!("{}+{}", Giop::ONE_WAY_NAME, diop::NAME)
}

impl ProfileCodec for DiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::TAO_DIOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == self::protocol()
    }

    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError> {
        let profile = DiopProfile::decode(data)?;
        let at = Address::iiop(&profile.host, profile.port);
        let address = Address::new(diop::NAME, at.place());
        let mut endpoints = vec![ProfileEndpoint::new(&protocol(), address)];
        let place = priorities::at_host;
        priorities::give(&mut endpoints, &profile.components, self.tag(), place);
        Ok(DecodedProfile {
            version: newest(profile.version)?,
            endpoints,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// Encodes one DIOP profile for each endpoint.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let hosts = endpoints
            .iter()
            .filter_map(|one| Some((one, host_and_port(&one.address)?)));
        hosts
            .map(|(endpoint, at)| {
                let priority = priorities::component([endpoint], priorities::at_host)?;
                let components = match object.version {
                    GiopVersion::V1_0 => Vec::new(),
                    _ => [object.components, priority.as_slice()].concat(),
                };
                DiopProfile {
                    version: object.version.into(),
                    host: at.host,
                    port: at.port,
                    object_key: object.object_key.to_vec(),
                    components,
                }
                .to_tagged(ByteOrder::NATIVE)
            })
            .collect()
    }
}
