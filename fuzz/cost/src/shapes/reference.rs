//! References, as octets and as text, with their profiles and components.

use super::{decoder, number, written};
use crate::outcome::{End, read_whole};
use crate::{Outcome, Refusal, Shape};
use punctual_cdr::{ByteOrder, NarrowCodeSet, Unmarshal};
use punctual_giop::code_sets;
use punctual_ior::{
    Component, Corbaloc, Endpoint, IiopProfile, IiopVersion, Ior, IorError, Profile,
    TaggedComponent,
};

pub(super) const SHAPES: &[Shape] = &[
    Shape::new("IOR", "profiles without data", profiles, read_octets),
    Shape::new("IOR", "too many profiles", too_many_profiles, read_octets).refused(End::Refused {
        why: "exceeds the limit of 1024",
        at: |_| 12,
    }),
    Shape::new("IOR", "components without data", components, read_octets),
    Shape::new("IOR", "alternate addresses", alternates, read_octets),
    Shape::new("IOR", "code sets", many_code_sets, read_octets),
    Shape::new("IOR as text", "alternate addresses", text, read_text),
    Shape::new("corbaloc", "addresses", addresses, read_corbaloc),
    Shape::new("corbaloc", "addresses with a long key", keys, read_corbaloc),
    Shape::new(
        "corbaloc",
        "very many addresses",
        very_many_addresses,
        read_corbaloc,
    )
    .refused(End::Refused {
        why: "more than 256 addresses",
        at: |_| 0,
    }),
    Shape::new("corbaloc", "escapes in the key", escapes, read_corbaloc),
];

fn read_octets(octets: &[u8]) -> Outcome {
    let mut input = decoder(octets);
    let ior = Ior::unmarshal(&mut input);
    let ior = ior.map_err(|error| Refusal::new(input.position(), error))?;
    read_whole(&input)?;
    read(&ior).map_err(|error| Refusal::new(octets.len(), error))
}

/// Reads all parts of a reference that a calling ORB reads.
fn read(ior: &Ior) -> Result<(), IorError> {
    for profile in &ior.profiles {
        let Profile::Iiop(profile) = profile.decode()? else {
            continue;
        };
        let _ = profile.endpoints().count();
        for component in &profile.components {
            if let Component::CodeSets(info) = component.decode()? {
                // The two sides may have no code set in common.
                let _ = code_sets::negotiate(Some(&info), NarrowCodeSet::Utf8);
            }
        }
    }
    Ok(())
}

fn read_text(octets: &[u8]) -> Outcome {
    let ior = String::from_utf8_lossy(octets).parse::<Ior>();
    let ior = ior.map_err(|error| Refusal::new(0, error))?;
    read(&ior).map_err(|error| Refusal::new(octets.len(), error))
}

fn read_corbaloc(octets: &[u8]) -> Outcome {
    let parsed = String::from_utf8_lossy(octets).parse::<Corbaloc>();
    let parsed = parsed.map_err(|error| Refusal::new(0, error))?;
    let ior = parsed.to_ior().map_err(|error| Refusal::new(0, error))?;
    let ior = ior.ok_or_else(|| Refusal::new(0, "it names no address"))?;
    read(&ior).map_err(|error| Refusal::new(octets.len(), error))
}

/// Bounds the length of a reference, so that it is read to its end.
fn within(octets: usize) -> usize {
    octets.min(Ior::MOST_OCTETS as usize - 1024)
}

fn profiles(octets: usize) -> Vec<u8> {
    empty_profiles((octets / 8).min(Ior::MOST_PROFILES as usize))
}

fn too_many_profiles(octets: usize) -> Vec<u8> {
    empty_profiles((octets / 8).max(Ior::MOST_PROFILES as usize + 1))
}

fn empty_profiles(profiles: usize) -> Vec<u8> {
    written(|out| {
        out.put_string("")?;
        out.put_u32(number(profiles));
        for _ in 0..profiles {
            out.put_u32(0x7000);
            out.put_u32(0);
        }
        Ok(())
    })
}

fn with_components(components: Vec<TaggedComponent>) -> Ior {
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        host: "h".to_owned(),
        port: 1,
        object_key: Vec::new(),
        components,
    };
    let tagged = profile.to_tagged(ByteOrder::Big);
    Ior {
        type_id: String::new(),
        profiles: tagged.into_iter().collect(),
    }
}

fn octets_of(ior: &Ior) -> Vec<u8> {
    use punctual_cdr::Marshal;
    written(|out| ior.marshal(out))
}

fn components(octets: usize) -> Vec<u8> {
    let empty = TaggedComponent {
        tag: 0x7000,
        data: Vec::new(),
    };
    octets_of(&with_components(vec![empty; within(octets) / 8]))
}

fn alternate() -> Option<TaggedComponent> {
    let at = Endpoint {
        host: "h".to_owned(),
        port: 1,
    };
    TaggedComponent::alternate_iiop_address(&at).ok()
}

fn with_alternates(octets: usize) -> Ior {
    with_components(
        alternate()
            .into_iter()
            .cycle()
            .take(within(octets) / 24)
            .collect(),
    )
}

fn alternates(octets: usize) -> Vec<u8> {
    octets_of(&with_alternates(octets))
}

fn many_code_sets(octets: usize) -> Vec<u8> {
    let data = written(|out| {
        out.put_u8(0);
        for _ in 0..2 {
            out.put_u32(0x0001_0109);
            let sets = within(octets) / 8;
            out.put_u32(number(sets));
            (0..sets).for_each(|set| out.put_u32(0x0a00_0000 + number(set)));
        }
        Ok(())
    });
    octets_of(&with_components(vec![TaggedComponent { tag: 1, data }]))
}

fn text(octets: usize) -> Vec<u8> {
    let text = with_alternates(octets / 2).stringify(ByteOrder::Big);
    text.unwrap_or_default().into_bytes()
}

/// Writes a reference with the maximum number of addresses; the length of their host names grows
/// with the input.
fn addresses(octets: usize) -> Vec<u8> {
    let host = "h".repeat((octets / 256).saturating_sub(6).max(1));
    let many = vec![format!("iiop:{host}"); 256].join(",");
    format!("corbaloc:{many}/k").into_bytes()
}

/// Writes a reference with two profiles, each of which gets a copy of a long object key.
fn keys(octets: usize) -> Vec<u8> {
    format!("corbaloc:iiop:h,:h/{}", "k".repeat(octets)).into_bytes()
}

fn very_many_addresses(octets: usize) -> Vec<u8> {
    let many = vec!["iiop:h"; (octets / 7).max(256) + 1].join(",");
    format!("corbaloc:{many}/k").into_bytes()
}

fn escapes(octets: usize) -> Vec<u8> {
    format!("corbaloc::h/{}", "%00".repeat(octets / 3)).into_bytes()
}
