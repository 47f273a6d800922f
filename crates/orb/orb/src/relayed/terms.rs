//! Terms that both sides of a bridge must have in common, and references that permit only these.

use crate::profile::{DecodedProfile, Publication};
use crate::protocol::Registry;
use punctual_cdr::{ByteOrder, CodeSets, GiopVersion};
use punctual_ior::{
    CodeSetComponent, CodeSetComponentInfo, Component, IiopProfile, Ior, TaggedComponent,
    TaggedProfile, tags,
};

/// Properties on which the meaning of a body's bytes depends, except its byte order, which is in
/// the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// GIOP version of the message.
    pub version: GiopVersion,
    /// Code sets that the two ends of the connection have agreed on.
    pub code_sets: CodeSets,
}

/// Returns a reference to the object of `ior` for calls on these terms, under another key if one is
/// given: its profiles have a GIOP version that is no newer, and no other code sets than those of
/// the terms, if the server supports them. Profiles that cannot satisfy the terms stay unchanged,
/// and a call is refused then.
pub(crate) fn on_terms(
    registry: &Registry,
    ior: &Ior,
    object_key: Option<&[u8]>,
    terms: Terms,
) -> Ior {
    let adapt = |tagged: &TaggedProfile| match tagged.tag {
        tags::profile::INTERNET_IOP => adapt_iiop(tagged, object_key, terms),
        _ => adapt_placed(tagged, object_key, terms, registry),
    };
    Ior {
        type_id: ior.type_id.clone(),
        profiles: ior.profiles.iter().filter_map(adapt).flatten().collect(),
    }
}

/// Returns a profile under another object key: with the same endpoints and components, except for a component that holds
/// the key. `None` for a profile that cannot be decoded.
pub(crate) fn under_key(
    registry: &Registry,
    tagged: &TaggedProfile,
    object_key: &[u8],
) -> Option<Vec<TaggedProfile>> {
    let says_key = |one: &TaggedComponent| one.tag == tags::component::COMPLETE_OBJECT_KEY;
    if tagged.tag == tags::profile::INTERNET_IOP {
        let mut profile = IiopProfile::decode(&tagged.data).ok()?;
        profile.components.retain(|one| !says_key(one));
        profile.object_key = object_key.to_vec();
        return Some(vec![profile.to_tagged(ByteOrder::NATIVE).ok()?]);
    }
    let codec = registry.codec(tagged.tag)?;
    let mut decoded = codec.decode(&tagged.data).ok()?;
    decoded.components.retain(|one| !says_key(one));
    let object = Publication {
        version: decoded.version,
        object_key,
        components: &decoded.components,
    };
    codec.encode(&decoded.endpoints, &object).ok()
}

/// Adapts an IIOP profile to the terms. It keeps all its components, including those that name
/// other transports.
fn adapt_iiop(
    tagged: &TaggedProfile,
    key: Option<&[u8]>,
    terms: Terms,
) -> Option<Vec<TaggedProfile>> {
    let mut profile = IiopProfile::decode(&tagged.data).ok()?;
    let version = profile.version.giop()?.min(terms.version);
    profile.version = version.into();
    profile.components = adapted(profile.components, key.is_some(), terms);
    if version == GiopVersion::V1_0 {
        profile.components.clear();
    }
    if let Some(key) = key {
        profile.object_key = key.to_vec();
    }
    Some(vec![profile.to_tagged(ByteOrder::NATIVE).ok()?])
}

fn adapt_placed(
    tagged: &TaggedProfile,
    key: Option<&[u8]>,
    terms: Terms,
    registry: &Registry,
) -> Option<Vec<TaggedProfile>> {
    let codec = registry.codec(tagged.tag)?;
    let DecodedProfile {
        version,
        object_key,
        components,
        endpoints,
    } = codec.decode(&tagged.data).ok()?;
    let object = Publication {
        version: version.min(terms.version),
        object_key: key.unwrap_or(&object_key),
        components: &adapted(components, key.is_some(), terms),
    };
    codec.encode(&endpoints, &object).ok()
}

fn adapted(
    components: Vec<TaggedComponent>,
    other_key: bool,
    terms: Terms,
) -> Vec<TaggedComponent> {
    let says_key = |one: &TaggedComponent| one.tag == tags::component::COMPLETE_OBJECT_KEY;
    let kept = components
        .into_iter()
        .filter(|one| !(other_key && says_key(one)));
    kept.map(|one| narrowed(&one, terms.code_sets).unwrap_or(one))
        .collect()
}

/// Returns a component of code sets that permits only these; `None` for other components, and if
/// the server does not support one of them.
fn narrowed(component: &TaggedComponent, wanted: CodeSets) -> Option<TaggedComponent> {
    if component.tag != tags::component::CODE_SETS {
        return None;
    }
    let Ok(Component::CodeSets(offered)) = component.decode() else {
        return None;
    };
    let only = |offered: &CodeSetComponent, id: u32| {
        let has = offered.native == id || offered.conversion.contains(&id);
        has.then(|| CodeSetComponent {
            native: id,
            conversion: Vec::new(),
        })
    };
    let none = CodeSetComponent {
        native: 0,
        conversion: Vec::new(),
    };
    let info = CodeSetComponentInfo {
        char_data: only(&offered.char_data, wanted.narrow.id())?,
        wchar_data: match wanted.wide {
            Some(wide) => only(&offered.wchar_data, wide.id())?,
            None => none,
        },
    };
    TaggedComponent::code_sets(&info).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::{NarrowCodeSet, WideCodeSet};
    use punctual_giop::code_sets::{negotiate, our_component};

    #[test]
    fn whatever_of_its_code_sets_is_wanted_is_then_agreed_on() {
        let offered = TaggedComponent::code_sets(&our_component(NarrowCodeSet::Utf8)).unwrap();
        for narrow in [NarrowCodeSet::Utf8, NarrowCodeSet::Iso8859_1] {
            for wide in [Some(WideCodeSet::Utf16), Some(WideCodeSet::Ucs2), None] {
                let wanted = CodeSets { narrow, wide };
                let component = narrowed(&offered, wanted).unwrap();
                let Ok(Component::CodeSets(info)) = component.decode() else {
                    panic!("it is a component of code sets");
                };
                assert_eq!(negotiate(Some(&info), NarrowCodeSet::Utf8), Ok(wanted));
            }
        }
    }
}
