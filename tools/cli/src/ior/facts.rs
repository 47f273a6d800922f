//! What a reference says, as data that is printed as text or as JSON.

use punctual_ior::{
    CodeSetComponent, Component, IiopProfile, IiopVersion, Ior, Profile, TaggedComponent,
    TaggedProfile, tags,
};
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

/// One fact of a component.
#[derive(Debug, Serialize)]
pub(crate) struct Meaning {
    pub(crate) what: &'static str,
    pub(crate) value: String,
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
        }
    }

    pub(crate) fn of_initial_reference(key: &[u8]) -> Self {
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
                components: components.iter().map(ComponentFacts::of).collect(),
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
            components: components.iter().map(ComponentFacts::of).collect(),
            ..self
        }
    }
}

impl ComponentFacts {
    fn of(component: &TaggedComponent) -> Self {
        let (meaning, problem) = match component.decode() {
            Ok(decoded) => (meaning(&decoded), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let data = meaning
            .is_empty()
            .then(|| Octets::from(&component.data[..]));
        let name = tags::component_name(component.tag);
        Self {
            tag: component.tag,
            name,
            meaning,
            data,
            problem,
        }
    }
}

fn meaning(component: &Component) -> Vec<Meaning> {
    let fact = |what, value| Meaning { what, value };
    match component {
        Component::OrbType(id) => {
            let name =
                tags::orb_type_name(*id).map_or_else(String::new, |name| format!(" ({name})"));
            vec![fact("ORB type", format!("{id:#010x}{name}"))]
        }
        Component::CodeSets(info) => {
            let mut facts = code_sets("char", "char conversion", &info.char_data);
            facts.extend(code_sets("wchar", "wchar conversion", &info.wchar_data));
            facts
        }
        Component::AlternateIiopAddress(endpoint) => {
            vec![fact("address", endpoint.to_string())]
        }
        Component::SslSecTrans(ssl) => vec![
            fact("port", ssl.port.to_string()),
            fact("supports", ssl.target_supports.to_string()),
            fact("requires", ssl.target_requires.to_string()),
        ],
        Component::UnixTrans(socket) => vec![
            fact("host", socket.host.clone()),
            fact("path", socket.path.clone()),
        ],
        Component::Policies(policies) => policies
            .iter()
            .map(|policy| {
                fact(
                    "policy",
                    format!("{} ({} octets)", policy.kind, policy.data.len()),
                )
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn code_sets(
    native: &'static str,
    conversion: &'static str,
    component: &CodeSetComponent,
) -> Vec<Meaning> {
    let name = |id: u32| match tags::code_set_name(id) {
        Some(name) => format!("{id:#010x} ({name})"),
        None => format!("{id:#010x}"),
    };
    let mut facts = Vec::new();
    if component.native != 0 {
        facts.push(Meaning {
            what: native,
            value: name(component.native),
        });
    }
    let conversions = component.conversion.iter().map(|&id| name(id));
    facts.extend(conversions.map(|value| Meaning {
        what: conversion,
        value,
    }));
    facts
}
