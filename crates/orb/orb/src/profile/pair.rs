//! Punctual's own profiles, for pairs of messaging protocol and link that have no tag of another
//! vendor.

use super::{DecodedProfile, ProfileCodec, ProfileEndpoint, Publication, priorities};
use crate::messaging::Giop;
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{IorError, PairProfile, TaggedProfile, tags};
use punctual_link::Address;

/// Codec of Punctual's profile tag. It carries every protocol, so it is tried last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairCodec;

impl ProfileCodec for PairCodec {
    fn tag(&self) -> u32 {
        tags::profile::PUNCTUAL_PAIR
    }

    fn carries(&self, _protocol: &str) -> bool {
        true
    }

    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError> {
        let profile = PairProfile::decode(data)?;
        let giop = format!("{}+", Giop::NAME);
        let short = profile.protocol.strip_prefix(&giop);
        let protocol = short.unwrap_or(&profile.protocol);
        let at =
            |place: &String| ProfileEndpoint::new(protocol, Address::new(profile.link(), place));
        let mut endpoints: Vec<ProfileEndpoint> = profile.places.iter().map(at).collect();
        let place = priorities::at_path;
        priorities::give(&mut endpoints, &profile.components, self.tag(), place);
        Ok(DecodedProfile {
            // Every writer of such profiles speaks the newest.
            version: GiopVersion::V1_2,
            endpoints,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// Writes one profile for each protocol, with all its endpoints.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let mut by_protocol: Vec<(String, Vec<&ProfileEndpoint>)> = Vec::new();
        for endpoint in endpoints {
            let link = endpoint.address.link();
            // The name of a link alone means GIOP.
            let protocol = match endpoint.protocol.strip_suffix(link) {
                Some("") | None => format!("{}+{link}", Giop::NAME),
                Some(_) => endpoint.protocol.to_string(),
            };
            match by_protocol.iter_mut().find(|(name, _)| *name == protocol) {
                Some((_, those)) => those.push(endpoint),
                None => by_protocol.push((protocol, vec![endpoint])),
            }
        }
        let profile = |(protocol, those): (String, Vec<&ProfileEndpoint>)| {
            let places = those.iter().map(|one| one.address.place().to_owned());
            let places = places.collect();
            let priorities = priorities::component(those, priorities::at_path)?;
            let profile = PairProfile {
                protocol,
                places,
                object_key: object.object_key.to_vec(),
                components: [object.components, priorities.as_slice()].concat(),
            };
            profile.to_tagged(ByteOrder::NATIVE)
        };
        by_protocol.into_iter().map(profile).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(protocol: &str, link: &str, place: &str) -> ProfileEndpoint {
        ProfileEndpoint::new(protocol, Address::new(link, place))
    }

    #[test]
    fn endpoints_come_back_in_profiles_of_their_protocol() {
        let endpoints = [
            endpoint("shmiop", "shmiop", "/a"),
            endpoint("giop_lite+uiop", "uiop", "/b"),
            endpoint("shmiop", "shmiop", "/c"),
            endpoint("reliable+diop", "reliable+diop", "h:1"),
        ];
        let object = Publication {
            version: GiopVersion::V1_2,
            object_key: b"key",
            components: &[],
        };
        let profiles = PairCodec.encode(&endpoints, &object).unwrap();
        assert_eq!(profiles.len(), 3);
        let decoded: Vec<ProfileEndpoint> = profiles
            .iter()
            .flat_map(|tagged| PairCodec.decode(&tagged.data).unwrap().endpoints)
            .collect();
        let order = [0, 2, 1, 3].map(|index: usize| endpoints[index].clone());
        assert_eq!(decoded, order);
    }
}
