//! What a reference says, as data that is printed as text or as JSON.

use crate::meaning::{self, Meaning};
use punctual_ior::{IiopProfile, IiopVersion, Ior, Profile, TaggedComponent, TaggedProfile, tags};
use serde::Serialize;

/// A reference.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// The repository id; empty where it is not said.
    pub type_id: String,
    /// Whether it is nil: there is no profile.
    pub nil: bool,
    /// For `corbaloc:rir:`, the name that the ORB at hand resolves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_reference: Option<String>,
    /// Its profiles, in their order.
    pub profiles: Vec<ProfileFacts>,
}

/// One profile.
#[derive(Debug, Serialize)]
pub struct ProfileFacts {
    /// Its tag.
    pub tag: u32,
    /// The tag's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// GIOP's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The messaging protocol and the link, where the profile is for any of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The host, for links that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The port, for links that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The socket, for Unix sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Places in the link's notation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// What the server knows the object by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_key: Option<Octets>,
    /// Its components, in their order.
    pub components: Vec<ComponentFacts>,
    /// What is not looked into, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Octets>,
    /// Why the data is not what its tag says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One component.
#[derive(Debug, Serialize)]
pub struct ComponentFacts {
    /// Its tag.
    pub tag: u32,
    /// The tag's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// What it means, where that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meaning: Vec<Meaning>,
    /// Its octets, where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Octets>,
    /// Why the data is not what its tag says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Octets, for programs and for people.
#[derive(Debug, Serialize)]
pub struct Octets {
    /// How many there are.
    pub length: usize,
    /// Two digits each.
    pub hex: String,
    /// With a dot for each octet that is no printable ASCII.
    pub text: String,
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
    /// Those of a reference.
    #[must_use]
    pub fn of_ior(ior: &Ior) -> Self {
        Self {
            type_id: ior.type_id.clone(),
            nil: ior.is_nil(),
            initial_reference: None,
            profiles: ior.profiles.iter().map(ProfileFacts::of).collect(),
        }
    }

    /// Those of an initial reference, by the name that the ORB at hand resolves.
    #[must_use]
    pub fn of_initial_reference(key: &[u8]) -> Self {
        Self {
            type_id: String::new(),
            nil: false,
            initial_reference: Some(String::from_utf8_lossy(key).into_owned()),
            profiles: Vec::new(),
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
