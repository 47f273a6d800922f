//! Contents of a reference, as data to be printed as text or as JSON.

use crate::meaning::{self, Meaning};
use punctual_ior::{IiopProfile, IiopVersion, Ior, Profile, TaggedComponent, TaggedProfile, tags};
use serde::Serialize;

/// Decoded contents of an object reference, for printing.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// Repository id of the object's interface; empty if unknown.
    pub type_id: String,
    /// True if the reference is nil: it has no profile.
    pub nil: bool,
    /// For `corbaloc:rir:`, the name that the local ORB resolves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_reference: Option<String>,
    /// Profiles of the reference, in order.
    pub profiles: Vec<ProfileFacts>,
}

/// Decoded contents of one profile of a reference, for printing.
#[derive(Debug, Serialize)]
pub struct ProfileFacts {
    /// Tag of the profile.
    pub tag: u32,
    /// Name of the profile tag; `None` if the tag is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// GIOP version in the profile, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Messaging protocol and link, unless the profile is independent of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Host in the profile's address, if the address has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Port in the profile's address, if the address has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Path of the Unix domain socket in the profile, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Addresses in the profile, in the syntax of the link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// Object key in the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_key: Option<Octets>,
    /// Tagged components of the profile, in order.
    pub components: Vec<ComponentFacts>,
    /// Data of a profile that is not decoded, as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Octets>,
    /// Reason for which the data does not match its tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Decoded contents of one tagged component, for printing.
#[derive(Debug, Serialize)]
pub struct ComponentFacts {
    /// Tag of the component.
    pub tag: u32,
    /// Name of the component tag; `None` if the tag is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// Decoded data of the component, as facts; empty if not decoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meaning: Vec<Meaning>,
    /// Data of a component that is not decoded, as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Octets>,
    /// Reason for which the data does not match its tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Bytes in a form for programs and one for people.
#[derive(Debug, Serialize)]
pub struct Octets {
    /// Number of bytes in the data.
    pub length: usize,
    /// Bytes in hexadecimal form, with two digits each.
    pub hex: String,
    /// Text form, with a dot for each byte that is not printable ASCII.
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
    /// Returns the decoded contents of an object reference.
    #[must_use]
    pub fn of_ior(ior: &Ior) -> Self {
        Self {
            type_id: ior.type_id.clone(),
            nil: ior.is_nil(),
            initial_reference: None,
            profiles: ior.profiles.iter().map(ProfileFacts::of).collect(),
        }
    }

    /// Returns the contents of an initial reference, by the name that the local ORB resolves.
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
            Ok(Profile::Uipmc(group)) => Self {
                version: Some(group.version.to_string()),
                host: Some(group.address),
                port: Some(group.port),
                components: components_of(&group.components, profile.tag),
                ..bare
            },
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
    /// Returns the contents of a component in a profile with this tag.
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
