//! Fuzz target for references: as octets, as `IOR:` text, as `corbaloc:`; each profile and
//! component is read and written again.

use punctual_cdr::{ByteOrder, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};
use punctual_giop::code_sets::negotiate;
use punctual_ior::{
    Component, Corbaloc, IiopProfile, Ior, PolicyValue, Profile, ProfileTemplates, TaggedComponent,
    TaggedProfile, tags,
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

/// Checks that a reference read from text is unchanged after it was written as text and read again.
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

/// Checks that a profile is unchanged after it was written and read again; its length selects the
/// byte order.
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
        Profile::Uipmc(group) => group.to_tagged(order),
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
        Profile::Uipmc(group) => {
            if let Some(of) = group.group() {
                assert!(of.is_same_group(&of));
            }
            if let Some(gateway) = group.group_iiop() {
                assert!(IiopProfile::decode(gateway).is_ok());
            }
            &group.components
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

/// Checks that an invalid policy value in a reference has an error text.
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

/// Checks that a component is unchanged after it was written and read again, and that a component
/// shown to people has a description.
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
        Component::FtGroup(group) => TaggedComponent::ft_group(group),
        Component::Group(group) => TaggedComponent::group(group),
        Component::FtPrimary(primary) => Ok(TaggedComponent::ft_primary(*primary)),
        Component::FtHeartbeatEnabled(enabled) => {
            Ok(TaggedComponent::ft_heartbeat_enabled(*enabled))
        }
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
