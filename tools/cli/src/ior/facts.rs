//! What a reference says, as data that is printed as text or as JSON.

use super::check::Endpoint;
use super::meaning::{self, Meaning};
use punctual_ior::{IiopProfile, IiopVersion, Ior, Profile, TaggedComponent, TaggedProfile, tags};
use serde::Serialize;

/// A reference.
#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    pub(crate) type_id: String,
    pub(crate) nil: bool,
    /// For `corbaloc:rir:`, the name that the ORB at hand resolves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) initial_reference: Option<String>,
    pub(crate) profiles: Vec<ProfileFacts>,
    /// With `--check`: which of its endpoints were reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoints: Option<Vec<Endpoint>>,
}

/// One profile.
#[derive(Debug, Serialize)]
pub(crate) struct ProfileFacts {
    pub(crate) tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The messaging protocol and the link, where the profile is for any of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Places in the link's notation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object_key: Option<Octets>,
    pub(crate) components: Vec<ComponentFacts>,
    /// What is not looked into, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Octets>,
    /// Why the data is not what its tag says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// One component.
#[derive(Debug, Serialize)]
pub(crate) struct ComponentFacts {
    pub(crate) tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'static str>,
    /// What it means, where that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) meaning: Vec<Meaning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Octets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// Octets, for programs and for people.
#[derive(Debug, Serialize)]
pub(crate) struct Octets {
    pub(crate) length: usize,
    pub(crate) hex: String,
    /// With a dot for each octet that is no printable ASCII.
    pub(crate) text: String,
}

impl From<&[u8]> for Octets {
    fn from(octets: &[u8]) -> Self {
        let printable = |&octet: &u8| {
            if (0x20..0x7f).contains(&octet) {
                char::from(octet)
            } else {
                '.'
            }
        };
        Self {
            length: octets.len(),
            hex: data_encoding::HEXLOWER.encode(octets),
            text: octets.iter().map(printable).collect(),
        }
    }
}

impl Facts {
    pub(crate) fn of_ior(ior: &Ior) -> Self {
        Self {
            type_id: ior.type_id.clone(),
            nil: ior.is_nil(),
            initial_reference: None,
            profiles: ior.profiles.iter().map(ProfileFacts::of).collect(),
            endpoints: None,
        }
    }

    pub(crate) fn of_initial_reference(key: &[u8]) -> Self {
        Self {
            type_id: String::new(),
            nil: false,
            initial_reference: Some(String::from_utf8_lossy(key).into_owned()),
            profiles: Vec::new(),
            endpoints: None,
        }
    }
}

impl ProfileFacts {
    fn of(profile: &TaggedProfile) -> Self {
        let bare = Self {
            tag: profile.tag,
            name: tags::profile_name(profile.tag),
            version: None,
            protocol: None,
            host: None,
            port: None,
            path: None,
            places: Vec::new(),
            object_key: None,
            components: Vec::new(),
            data: None,
            problem: None,
        };
        match profile.decode() {
            Ok(Profile::Iiop(iiop) | Profile::Shmiop(iiop)) => bare.at_host(iiop),
            Ok(Profile::Diop(diop)) => bare.at_host(diop.into()),
            Ok(Profile::Uiop(uiop)) => Self {
                path: Some(uiop.path),
                ..bare.at(uiop.version, &uiop.object_key, &uiop.components)
            },
            Ok(Profile::Pair(pair)) => Self {
                protocol: Some(pair.protocol),
                places: pair.places,
                ..bare.with(&pair.object_key, &pair.components)
            },
            Ok(Profile::MultipleComponents(components)) => Self {
                components: components_of(&components, profile.tag),
                ..bare
            },
            Ok(_) => Self {
                data: Some(Octets::from(&profile.data[..])),
                ..bare
            },
            Err(error) => Self {
                data: Some(Octets::from(&profile.data[..])),
                problem: Some(error.to_string()),
                ..bare
            },
        }
    }

    fn at_host(self, iiop: IiopProfile) -> Self {
        Self {
            host: Some(iiop.host),
            port: Some(iiop.port),
            ..self.at(iiop.version, &iiop.object_key, &iiop.components)
        }
    }

    fn at(self, version: IiopVersion, key: &[u8], components: &[TaggedComponent]) -> Self {
        Self {
            version: Some(version.to_string()),
            ..self.with(key, components)
        }
    }

    fn with(self, key: &[u8], components: &[TaggedComponent]) -> Self {
        Self {
            object_key: Some(Octets::from(key)),
            components: components_of(components, self.tag),
            ..self
        }
    }
}

fn components_of(components: &[TaggedComponent], profile: u32) -> Vec<ComponentFacts> {
    let facts = |component| ComponentFacts::of(component, profile);
    components.iter().map(facts).collect()
}

impl ComponentFacts {
    /// Of a component in a profile of that tag.
    fn of(component: &TaggedComponent, profile: u32) -> Self {
        let (meaning, problem) = match meaning::of(component, profile) {
            Ok(meaning) => (meaning, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let data = meaning
            .is_empty()
            .then(|| Octets::from(&component.data[..]));
        Self {
            tag: component.tag,
            name: tags::component_name(component.tag),
            meaning,
            data,
            problem,
        }
    }
}
