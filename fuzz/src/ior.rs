//! Fuzz target for references: as octets, as `IOR:` text, as `corbaloc:`; each profile and
//! component of them, read and written again.

use crate::{Seed, seed};
use punctual_cdr::{ByteOrder, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};
use punctual_giop::code_sets::negotiate;
use punctual_ior::{
    AssociationOptions, CodeSetComponent, CodeSetComponentInfo, Component, Corbaloc, DiopProfile,
    Endpoint, IiopProfile, IiopVersion, Ior, PairProfile, PolicyValue, Profile, ProfileTemplates,
    SslSecTrans, TaggedComponent, TaggedProfile, UiopProfile, UnixTrans, tags,
};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 3 {
        0 => {
            let order = ByteOrder::from_flag(how >> 2 & 1);
            let mut decoder = Decoder::new(octets, order, Coding::default());
            if let Ok(ior) = Ior::unmarshal(&mut decoder) {
                read(&ior);
            }
        }
        1 => match String::from_utf8_lossy(octets).parse::<Ior>() {
            Ok(ior) => read(&ior),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        _ => match String::from_utf8_lossy(octets).parse::<Corbaloc>() {
            Ok(corbaloc) => as_text(&corbaloc),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let _ = error.part();
            }
        },
    }
}

/// Checks that text that was read is written as text that reads as the same.
fn as_text(corbaloc: &Corbaloc) {
    let text = corbaloc.to_string();
    assert_eq!(text.parse::<Corbaloc>().as_ref(), Ok(corbaloc), "{text}");
    match corbaloc.to_ior() {
        Ok(Some(ior)) => read(&ior),
        Ok(None) => assert!(corbaloc.is_rir()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn read(ior: &Ior) {
    for tagged in &ior.profiles {
        let _ = tags::profile_name(tagged.tag);
        match tagged.decode() {
            Ok(profile) => of_profile(tagged, &profile),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(ior.iiop_profiles().count() <= ior.profiles.len());
    for order in ORDERS {
        if let Ok(text) = ior.stringify(order) {
            assert_eq!(text.parse::<Ior>().as_ref(), Ok(ior));
        }
    }
    let shown = ior.to_string().parse::<Ior>().expect("it is a reference");
    assert_eq!(shown.profiles, ior.profiles);
}

/// Checks that a profile that was read is the same after writing and reading, in the byte order
/// that its length selects.
fn of_profile(tagged: &TaggedProfile, profile: &Profile) {
    let order = ORDERS[tagged.data.len() % 2];
    let written = match profile {
        Profile::Iiop(iiop) => iiop.to_tagged(order),
        Profile::Shmiop(iiop) => iiop.encode(order).map(|data| TaggedProfile {
            tag: tagged.tag,
            data,
        }),
        Profile::Uiop(uiop) => uiop.to_tagged(order),
        Profile::Diop(diop) => diop.to_tagged(order),
        Profile::Pair(pair) => pair.to_tagged(order),
        Profile::MultipleComponents(components) => {
            let data = encapsulated(order, components);
            data.map(|data| TaggedProfile {
                tag: tagged.tag,
                data,
            })
        }
        _ => return,
    };
    let written = written.expect("what was read is written");
    assert_eq!(written.decode().as_ref(), Ok(profile));
    let components = match profile {
        Profile::Iiop(iiop) | Profile::Shmiop(iiop) => {
            of_iiop(iiop);
            &iiop.components
        }
        Profile::Uiop(uiop) => &uiop.components,
        Profile::Diop(diop) => &diop.components,
        Profile::Pair(pair) => {
            assert_eq!(pair.protocol, [pair.messaging(), pair.link()].join("+"));
            &pair.components
        }
        Profile::MultipleComponents(components) => components,
        _ => return,
    };
    components.iter().for_each(of_component);
    for component in components {
        match component.tao_endpoints(tagged.tag) {
            Ok(Some(endpoints)) => {
                let written = TaggedComponent::of_tao_endpoints(&endpoints);
                let written = written.expect("what was read is written");
                assert_eq!(written.tao_endpoints(tagged.tag), Ok(Some(endpoints)));
            }
            Ok(None) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if let Ok(Component::Policies(policies)) = component.decode() {
            policies.iter().for_each(of_policy);
        }
    }
}

/// Checks the text of a policy in a reference.
fn of_policy(policy: &PolicyValue) {
    let _ = tags::policy_name(policy.kind);
    if let Err(error) = policy.decode() {
        assert!(!error.to_string().is_empty());
    }
}

fn of_iiop(iiop: &IiopProfile) {
    assert!(iiop.version.giop().is_some());
    for endpoint in iiop.endpoints() {
        assert!(endpoint.to_string().contains(':'));
    }
    // A server's code set without a conversion is an error with a text.
    if let Err(error) = negotiate(iiop.code_sets().as_ref(), NarrowCodeSet::Utf8) {
        assert!(!error.to_string().is_empty());
    }
    // A profile template of another key yields the profile with that key.
    let templates = ProfileTemplates::default();
    let with = |key: &[u8]| {
        let iiop = IiopProfile {
            object_key: key.to_vec(),
            ..iiop.clone()
        };
        Ok::<_, punctual_cdr::CdrError>(vec![iiop.to_tagged(ByteOrder::Big)?])
    };
    let mut other = iiop.object_key.clone();
    other.reverse();
    for key in [&iiop.object_key, &other] {
        assert_eq!(templates.profiles(key, [1; 3], with), with(key));
    }
}

/// Checks that a component that was read is the same after writing and reading; one that is shown
/// to people has a text.
fn of_component(tagged: &TaggedComponent) {
    let _ = tags::component_name(tagged.tag);
    let Ok(component) = tagged.decode() else {
        return;
    };
    let written = match &component {
        Component::OrbType(id) => {
            let _ = tags::orb_type_name(*id);
            Ok(TaggedComponent::orb_type(*id))
        }
        Component::CodeSets(info) => {
            let _ = tags::code_set_name(info.char_data.native);
            TaggedComponent::code_sets(info)
        }
        Component::AlternateIiopAddress(endpoint) => {
            TaggedComponent::alternate_iiop_address(endpoint)
        }
        Component::SslSecTrans(ssl) => {
            assert!(!ssl.target_requires.to_string().is_empty());
            Ok(TaggedComponent::ssl_sec_trans(ssl))
        }
        Component::UnixTrans(socket) => TaggedComponent::unix_trans(socket),
        Component::Policies(policies) => TaggedComponent::policies(policies),
        // There is no writer for CSIv2's mechanisms here.
        _ => return,
    };
    let written = written.expect("what was read is written");
    assert_eq!(written.decode(), Ok(component));
}

fn encapsulated(
    order: ByteOrder,
    content: &impl Marshal,
) -> Result<Vec<u8>, punctual_cdr::CdrError> {
    Encoder::encapsulated(order, Coding::default(), |out| content.marshal(out))
}

/// Returns references of each kind as seeds.
///
/// # Panics
/// A seed cannot be written.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut all: Vec<Seed> = references()
        .into_iter()
        .flat_map(|(name, profile)| {
            let ior = Ior {
                type_id: "IDL:a/B:1.0".to_owned(),
                profiles: vec![profile],
            };
            let order = ByteOrder::Little;
            let mut out = Encoder::new(Default::default(), order, Coding::default());
            ior.marshal(&mut out).expect("it can be written");
            let text = ior.stringify(ByteOrder::Big).expect("it can be written");
            [
                seed(&format!("{name}-octets"), [&[6], &*out.into_block()]),
                seed(&format!("{name}-text"), [&[1], text.as_bytes()]),
            ]
        })
        .collect();
    let latin = Ior {
        type_id: "IDL:\u{e9}:1.0".to_owned(),
        profiles: Vec::new(),
    };
    let text = latin.stringify(ByteOrder::Big).expect("it can be written");
    all.push(seed("nil-latin", [&[1], text.as_bytes()]));
    for (name, text) in [
        ("iiop", "corbaloc:iiop:1.2@host:2809/Key%00"),
        ("several", "corbaloc::h,:1.0@[::1]:7,iiop:1.1@[fe80::1]/K"),
        ("ssliop", "corbaloc:ssliop:1.2@h:684/K"),
        ("ssliop-1.0", "corbaloc:ssliop:1.0@h/K"),
        ("diop", "corbaloc:diop:1.2@h:99/K"),
        ("uiop", "corbaloc:uiop:1.1@/tmp/a%20b|K/l"),
        ("uiop-plain", "corbaloc:uiop:/tmp/x|K"),
        ("uiop-relative", "corbaloc:uiop:1.0@tmp|K"),
        ("pair", "corbaloc:giop_lite+tcp:host%2f:1/K"),
        ("pair-path", "corbaloc:shmiop:/dev/x|K"),
        ("pair-bar", "corbaloc:giop_lite+tcp:a|b/K"),
        ("rir", "corbaloc:rir:/NameService"),
        ("rir-beside", "corbaloc:rir:,iiop:h/NameService"),
        ("name", "corbaname::h:1#a/b.c"),
        ("bad-escape", "corbaloc::h/%4"),
        ("bad-host", "corbaloc::[::1x]:1/K"),
        ("bad-host-end", "corbaloc::[::1]x/K"),
        ("bad-name", "corbaloc::h\u{e9}/K"),
        ("bad-port", "corbaloc::h:99999/K"),
        ("bad-version", "corbaloc::2.0@h/K"),
        ("bad-protocol", "corbaloc:no such:h/K"),
        ("bad-key", "corbaloc::h/K K"),
        ("bad-scheme", "corbaloo::h/K"),
        ("no-address", "corbaloc:/K"),
    ] {
        all.push(seed(&format!("loc-{name}"), [&[2], text.as_bytes()]));
    }
    all
}

fn references() -> Vec<(&'static str, TaggedProfile)> {
    let big = ByteOrder::Big;
    let version = IiopVersion { major: 1, minor: 2 };
    let iiop = |minor, components| IiopProfile {
        version: IiopVersion { major: 1, minor },
        host: "host".to_owned(),
        port: 2809,
        object_key: b"key".to_vec(),
        components,
    };
    let other = |profile: TaggedProfile, tag| TaggedProfile { tag, ..profile };
    let written = |profile: Result<TaggedProfile, _>| profile.expect("it can be written");
    let all = components();
    let multiple = TaggedProfile {
        tag: tags::profile::MULTIPLE_COMPONENTS,
        data: encapsulated(big, &all).expect("it can be written"),
    };
    let uiop = UiopProfile {
        version,
        path: "/tmp/socket".to_owned(),
        object_key: b"key".to_vec(),
        components: all.clone(),
    };
    let pair = PairProfile {
        protocol: "giop_lite+tcp".to_owned(),
        places: vec!["a:1".to_owned(), "b:2".to_owned()],
        object_key: b"key".to_vec(),
        components: all.clone(),
    };
    let mut newer = written(pair.to_tagged(big));
    newer.data[1] = 2;
    let mut iiop_2 = written(iiop(2, Vec::new()).to_tagged(big));
    iiop_2.data[1] = 2;
    [
        ("iiop-1.0", written(iiop(0, Vec::new()).to_tagged(big))),
        ("iiop-1.1", written(iiop(1, all.clone()).to_tagged(big))),
        ("iiop-1.2", written(iiop(2, all.clone()).to_tagged(big))),
        ("iiop-1.7", written(iiop(7, all.clone()).to_tagged(big))),
        ("iiop-2", iiop_2),
        (
            "shmiop",
            other(
                written(iiop(2, all.clone()).to_tagged(big)),
                tags::profile::TAO_SHMIOP,
            ),
        ),
        (
            "diop",
            written(DiopProfile::from(iiop(2, all)).to_tagged(big)),
        ),
        ("uiop", written(uiop.to_tagged(big))),
        ("pair", written(pair.to_tagged(big))),
        ("pair-newer", newer),
        ("components", multiple),
    ]
    .into_iter()
    .chain(
        [
            ("sccp", tags::profile::SCCP_IOP),
            ("uipmc", tags::profile::UIPMC),
            ("coiop", tags::profile::TAO_COIOP),
            ("sciop", tags::profile::TAO_SCIOP),
            ("unknown", 0x4242),
        ]
        .map(|(name, tag)| {
            (
                name,
                TaggedProfile {
                    tag,
                    data: vec![0; 5],
                },
            )
        }),
    )
    .collect()
}

/// Returns a component of each kind, and those of CSIv2 and of other ORBs that have only names
/// here.
fn components() -> Vec<TaggedComponent> {
    let endpoint = Endpoint {
        host: "::1".to_owned(),
        port: 1,
    };
    let set = |native, conversion: &[u32]| CodeSetComponent {
        native,
        conversion: conversion.to_vec(),
    };
    let code_sets = CodeSetComponentInfo {
        char_data: set(0x0001_0001, &[0x0501_0001, 0x0001_0020]),
        wchar_data: set(0x0001_0109, &[0x0001_0100]),
    };
    let unix = UnixTrans {
        host: "host".to_owned(),
        path: "/tmp/omni".to_owned(),
    };
    let too_short = PolicyValue {
        kind: 40,
        data: vec![0, 1],
    };
    let written = |component: Result<TaggedComponent, _>| component.expect("it can be written");
    let mut all = vec![
        TaggedComponent::orb_type(0x5441_4f00),
        written(TaggedComponent::code_sets(&code_sets)),
        written(TaggedComponent::alternate_iiop_address(&endpoint)),
        TaggedComponent::ssl_sec_trans(&SslSecTrans {
            target_supports: AssociationOptions(0xffff),
            target_requires: AssociationOptions::INTEGRITY.and(AssociationOptions::CONFIDENTIALITY),
            port: 684,
        }),
        written(TaggedComponent::unix_trans(&unix)),
        written(TaggedComponent::policies(&[too_short])),
        written(TaggedComponent::policies(&unreadable())),
        written(TaggedComponent::policies(&real_time())),
        tao_endpoints(&[("host", Some(2809), 0), ("::1", Some(65535), 32767)]),
        tao_endpoints(&[("/tmp/socket", None, 0), ("tmp/x", None, -1)]),
        mechanisms(),
    ];
    // Kinds that have only a name here; one that has none.
    let named = [
        tags::component::COMPLETE_OBJECT_KEY,
        tags::component::ENDPOINT_ID_POSITION,
        tags::component::LOCATION_POLICY,
        tags::component::ASSOCIATION_OPTIONS,
        tags::component::FT_GROUP,
        tags::component::FT_PRIMARY,
        tags::component::FT_HEARTBEAT_ENABLED,
        tags::component::INV_POLICY,
        tags::component::NULL_TAG,
        tags::component::SECIOP_SEC_TRANS,
        tags::component::TLS_SEC_TRANS,
        tags::component::GROUP,
        tags::component::GROUP_IIOP,
        tags::component::TAO_ENDPOINTS,
        tags::component::OMNIORB_BIDIR,
        tags::component::OMNIORB_PERSISTENT_ID,
        0x4242,
    ];
    all.extend(named.map(|tag| TaggedComponent {
        tag,
        data: Vec::new(),
    }));
    for id in [tags::orb_type::OMNIORB, tags::orb_type::JACORB, 0] {
        all.push(TaggedComponent::orb_type(id));
    }
    // Code sets of a server that have no conversion, or no name.
    for native in [0x0501_0001, 0x0001_0100, 0x0001_0109, 0x1234_5678] {
        let info = CodeSetComponentInfo {
            char_data: set(native, &[]),
            wchar_data: set(native, &[]),
        };
        all.push(written(TaggedComponent::code_sets(&info)));
    }
    all
}

/// Returns mechanisms of CSIv2, with TLS, without, and with unknown transports.
pub(crate) fn mechanisms() -> TaggedComponent {
    let endpoint = Endpoint {
        host: "::1".to_owned(),
        port: 1,
    };
    csi(&[
        (tags::component::NULL_TAG, Vec::new()),
        (tags::component::TLS_SEC_TRANS, tls(&endpoint)),
        (0x77, vec![1, 2]),
    ])
}

/// Returns policies of each kind that has a name, and of one that has none, with invalid values.
fn unreadable() -> Vec<PolicyValue> {
    let kinds = (16..=46).chain(0x5441_0000..=0x5441_0008);
    let policy = |kind| PolicyValue {
        kind,
        data: Vec::new(),
    };
    kinds.map(policy).collect()
}

/// Returns TAO's endpoints: hosts with ports, or the paths of Unix sockets, and the priority of
/// each.
fn tao_endpoints(endpoints: &[(&str, Option<u16>, i16)]) -> TaggedComponent {
    let data = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
        out.put_u32(endpoints.len() as u32);
        for &(place, port, priority) in endpoints {
            out.put_string(place)?;
            if let Some(port) = port {
                out.put_u16(port);
            }
            out.put_i16(priority);
        }
        Ok(())
    });
    TaggedComponent {
        tag: tags::component::TAO_ENDPOINTS,
        data: data.expect("it can be written"),
    }
}

/// Returns the policies of Real-time CORBA that servers publish, and invalid values.
fn real_time() -> Vec<PolicyValue> {
    let policy = |kind, order, write: &dyn Fn(&mut Encoder<'_>)| {
        let data = Encoder::encapsulated(order, Coding::default(), |out| {
            write(out);
            Ok(())
        });
        PolicyValue {
            kind,
            data: data.expect("it can be written"),
        }
    };
    let model = |order, model, priority| {
        policy(40, order, &|out| {
            out.put_u32(model);
            out.put_i16(priority);
        })
    };
    let bands = |order, bands: &[(i16, i16)]| {
        policy(45, order, &|out| {
            out.put_u32(bands.len() as u32);
            for &(low, high) in bands {
                out.put_i16(low);
                out.put_i16(high);
            }
        })
    };
    let protocols = |order, profiles: &[u32]| {
        policy(43, order, &|out| {
            out.put_u32(profiles.len() as u32);
            for &profile in profiles {
                out.put_u32(profile);
                if profile == tags::profile::TAO_DIOP {
                    continue;
                }
                out.put_i32(65536);
                out.put_i32(32768);
                if profile == tags::profile::TAO_UIOP {
                    continue;
                }
                for flag in [true, false, true] {
                    out.put_bool(flag);
                }
                if profile == tags::profile::TAO_SHMIOP {
                    out.put_i32(4096);
                    for text in ["/dev/shm", "name"] {
                        out.put_u32(text.len() as u32 + 1);
                        out.put_bytes(text.as_bytes());
                        out.put_bytes(&[0]);
                    }
                }
            }
        })
    };
    let known = [
        tags::profile::TAO_SHMIOP,
        tags::profile::INTERNET_IOP,
        tags::profile::TAO_UIOP,
        tags::profile::TAO_SCIOP,
        tags::profile::TAO_DIOP,
    ];
    let [big, little] = ORDERS;
    vec![
        model(big, 0, 32767),
        model(little, 1, 0),
        model(big, 2, 0),
        bands(little, &[(0, 9), (10, 32767)]),
        bands(big, &[(9, 0)]),
        protocols(big, &known),
        protocols(little, &[tags::profile::INTERNET_IOP, 0x4242]),
        policy(41, big, &|out| out.put_u32(1)),
    ]
}

fn tls(endpoint: &Endpoint) -> Vec<u8> {
    let order = ByteOrder::Big;
    let written = Encoder::encapsulated(order, Coding::default(), |out| {
        out.put_u16(0x66);
        out.put_u16(6);
        out.put_u32(1);
        endpoint.marshal(out)
    });
    written.expect("it can be written")
}

/// Returns mechanisms, each with a transport, one kind of privilege authority and one way to name.
fn csi(transports: &[(u32, Vec<u8>)]) -> TaggedComponent {
    let order = ByteOrder::Big;
    let data = Encoder::encapsulated(order, Coding::default(), |out| {
        out.put_bool(true);
        out.put_length(transports.len())?;
        for (tag, transport) in transports {
            out.put_u16(6);
            out.put_u32(*tag);
            out.put_octets(transport)?;
            out.put_u16(64);
            out.put_u16(0);
            out.put_octets(b"oid")?;
            out.put_octets(b"name")?;
            out.put_u16(1);
            out.put_u16(0);
            out.put_u32(1);
            out.put_u32(3);
            out.put_octets(b"authority")?;
            out.put_u32(1);
            out.put_octets(b"naming")?;
            out.put_u32(15);
        }
        Ok(())
    });
    TaggedComponent {
        tag: tags::component::CSI_SEC_MECH_LIST,
        data: data.expect("it can be written"),
    }
}
