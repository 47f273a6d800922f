//! Tests of references in binary and text form.

#![allow(clippy::unwrap_used)]

use crate::hex;
use punctual_heap::bytes_of;

use hex::hex;
use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::{
    AssociationOptions, CodeSetComponent, CodeSetComponentInfo, Component, Corbaloc, DiopProfile,
    Endpoint, IiopProfile, IiopVersion, Ior, IorError, PairProfile, PolicyValue, Profile,
    SslSecTrans, TaggedComponent, TaggedProfile, UiopProfile, UnixTrans, tags,
};

/// Output of omniORB's `genior IDL:Test/Echo:1.0 example.org 2809 key`.
const OMNIORB: &str = "IOR:010000001200000049444c3a546573742f4563686f3a312e3000000001000000000000\
    0058000000010102000c0000006578616d706c652e6f726700f90a0000030000006b65790002000000000000000800\
    00000100000000545441010000001c0000000100000001000100010000000100010509010100010000000901010\
    0";

#[test]
fn a_reference_of_omniorb_is_read_as_its_own_tool_reads_it() {
    let ior: Ior = OMNIORB.parse().unwrap();
    assert_eq!(ior.type_id, "IDL:Test/Echo:1.0");
    let profiles: Vec<_> = ior.iiop_profiles().map(Result::unwrap).collect();
    let [profile] = &profiles[..] else {
        panic!("one profile expected");
    };
    assert_eq!(profile.version, IiopVersion { major: 1, minor: 2 });
    assert_eq!(profile.host, "example.org");
    assert_eq!(profile.port, 2809);
    assert_eq!(profile.object_key, b"key");
    assert_eq!(
        profile.components[0].decode(),
        Ok(Component::OrbType(tags::orb_type::OMNIORB))
    );
    let sets = profile.code_sets().unwrap();
    assert_eq!(sets.char_data.native, 0x0001_0001);
    assert_eq!(sets.char_data.conversion, [0x0501_0001]);
    assert_eq!(sets.wchar_data.native, 0x0001_0109);
    assert_eq!(sets.wchar_data.conversion, [0x0001_0109]);
    assert_eq!(ior.stringify(ByteOrder::Little).unwrap(), OMNIORB);
}

#[test]
fn profiles_beyond_the_limits_are_refused() {
    let read = |count: u32, octets: u32| {
        let profile = TaggedProfile {
            tag: 7,
            data: vec![0; octets as usize / count as usize],
        };
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![profile; count as usize],
        };
        let text = ior.stringify(ByteOrder::Little).unwrap();
        text.parse::<Ior>().map(|read| assert_eq!(read, ior))
    };
    let (most, octets) = (Ior::MOST_PROFILES, Ior::MOST_OCTETS);
    assert_eq!(read(most, 0), Ok(()));
    assert_eq!(read(1, octets), Ok(()));
    let refused = |length, limit| Err(IorError::from(CdrError::LengthOverLimit { length, limit }));
    assert_eq!(read(most + 1, 0), refused(most + 1, most));
    assert_eq!(read(1, octets + 1), refused(octets + 1, octets));
    assert_eq!(read(2, octets + 2), refused(octets + 2, octets));
}

#[test]
fn an_iiop_profile_has_the_layout_of_the_standard() {
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor: 1 },
        host: "h".into(),
        port: 0x1234,
        object_key: vec![0xaa, 0xbb],
        components: vec![TaggedComponent {
            tag: 7,
            data: vec![0xcc],
        }],
    };
    let big =
        hex("00 01 01 00 00000002 6800 1234 00000002 aabb 0000 00000001 00000007 00000001 cc");
    assert_eq!(profile.encode(ByteOrder::Big).unwrap(), big);
    assert_eq!(IiopProfile::decode(&big).unwrap(), profile);
    let little =
        hex("01 01 01 00 02000000 6800 3412 02000000 aabb 0000 01000000 07000000 01000000 cc");
    assert_eq!(profile.encode(ByteOrder::Little).unwrap(), little);
    assert_eq!(IiopProfile::decode(&little).unwrap(), profile);
}

#[test]
fn version_1_0_has_no_components_and_what_follows_is_passed_over() {
    let data = hex("00 01 00 00 00000002 6800 1234 00000000 ffffffff");
    let profile = IiopProfile::decode(&data).unwrap();
    assert!(profile.components.is_empty());
    assert_eq!(profile.encode(ByteOrder::Big).unwrap(), data[..16]);
}

#[test]
fn a_later_minor_version_is_used_as_1_2_and_another_major_one_not_at_all() {
    let data = hex("00 01 07 00 00000002 6800 1234 00000000 00000000 0011");
    let profile = IiopProfile::decode(&data).unwrap();
    assert_eq!(profile.version.to_string(), "1.7");
    assert_eq!(profile.version.giop().unwrap().to_string(), "1.2");
    let data = hex("00 02 00 00 00000002 6800 1234 00000000");
    assert_eq!(
        IiopProfile::decode(&data),
        Err(IorError::UnsupportedVersion { major: 2, minor: 0 })
    );
}

#[test]
fn endpoints_are_the_profiles_own_and_its_alternates_in_order() {
    let alternate = |host: &str, port| {
        let endpoint = Endpoint {
            host: host.into(),
            port,
        };
        TaggedComponent::alternate_iiop_address(&endpoint).unwrap()
    };
    let malformed = TaggedComponent {
        tag: tags::component::ALTERNATE_IIOP_ADDRESS,
        data: vec![9],
    };
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        host: "a".into(),
        port: 1,
        object_key: Vec::new(),
        components: vec![alternate("b", 2), malformed, alternate("::1", 3)],
    };
    let endpoints: Vec<_> = profile.endpoints().map(|it| it.to_string()).collect();
    assert_eq!(endpoints, ["a:1", "b:2", "[::1]:3"]);
}

#[test]
fn known_components_decode_to_what_they_were_made_of() {
    let info = CodeSetComponentInfo {
        char_data: CodeSetComponent {
            native: 1,
            conversion: vec![2, 3],
        },
        wchar_data: CodeSetComponent::default(),
    };
    let component = TaggedComponent::code_sets(&info).unwrap();
    assert_eq!(component.decode(), Ok(Component::CodeSets(info)));
    let policies = vec![PolicyValue {
        kind: 40,
        data: vec![1, 2],
    }];
    let component = TaggedComponent::policies(&policies).unwrap();
    assert_eq!(component.decode(), Ok(Component::Policies(policies)));
    let component = TaggedComponent {
        tag: tags::component::SSL_SEC_TRANS,
        data: hex("00 00 0066 0006 0ccc"),
    };
    let expected = SslSecTrans {
        target_supports: AssociationOptions(0x66),
        target_requires: AssociationOptions(6),
        port: 0xccc,
    };
    assert_eq!(component.decode(), Ok(Component::SslSecTrans(expected)));
    let made = TaggedComponent::ssl_sec_trans(&expected);
    assert_eq!(made.tag, tags::component::SSL_SEC_TRANS);
    assert_eq!(made.decode(), Ok(Component::SslSecTrans(expected)));
    assert_eq!(
        TaggedComponent::orb_type(5).decode(),
        Ok(Component::OrbType(5))
    );
    let unknown = TaggedComponent {
        tag: 0xdead_beef,
        data: vec![],
    };
    assert_eq!(unknown.decode(), Ok(Component::Other));
}

#[test]
fn profiles_of_other_transports_decode_for_display() {
    let profile = |tag, text: &str| TaggedProfile {
        tag,
        data: hex(text),
    };
    let uiop = profile(
        tags::profile::TAO_UIOP,
        "00 01 02 00 00000003 2f7300 00 00000001 6b 000000 00000000",
    );
    let Ok(Profile::Uiop(uiop)) = uiop.decode() else {
        panic!("a UIOP profile expected");
    };
    assert_eq!(
        (uiop.path.as_str(), &uiop.object_key[..]),
        ("/s", &b"k"[..])
    );
    let text = "00 01 00 00 00000002 6800 1234 00000000";
    let diop = profile(tags::profile::TAO_DIOP, text).decode();
    assert!(matches!(diop, Ok(Profile::Diop(profile)) if profile.port == 0x1234));
    let shmiop = profile(tags::profile::TAO_SHMIOP, text).decode();
    assert!(matches!(shmiop, Ok(Profile::Shmiop(_))));
    let multiple = profile(
        tags::profile::MULTIPLE_COMPONENTS,
        "00 000000 00000001 00000009 00000001 01",
    );
    let component = TaggedComponent {
        tag: 9,
        data: vec![1],
    };
    assert_eq!(
        multiple.decode(),
        Ok(Profile::MultipleComponents(vec![component]))
    );
    assert_eq!(profile(99, "").decode(), Ok(Profile::Other));
}

#[test]
fn nil_is_a_reference_without_profiles() {
    assert!(Ior::nil().is_nil());
    let text = Ior::nil().stringify(ByteOrder::Big).unwrap();
    assert_eq!(text, "IOR:00000000000000010000000000000000");
    assert_eq!(text.parse::<Ior>(), Ok(Ior::nil()));
    // Without even a NUL, as some ORBs send it.
    assert_eq!("IOR:000000000000000000000000".parse(), Ok(Ior::nil()));
}

#[test]
fn text_is_read_in_either_case_and_with_space_around_it() {
    let ior: Ior = OMNIORB.parse().unwrap();
    let upper = OMNIORB.to_ascii_uppercase();
    let lower = OMNIORB.to_ascii_lowercase();
    for text in [upper, lower, format!(" \t{OMNIORB}\r\n")] {
        assert_eq!(text.parse::<Ior>().as_ref(), Ok(&ior));
    }
}

#[test]
fn malformed_text_is_told_apart_with_its_position() {
    let parse = str::parse::<Ior>;
    assert_eq!(parse(""), Err(IorError::NoPrefix));
    assert_eq!(parse("IO"), Err(IorError::NoPrefix));
    assert_eq!(parse("ÄIOR:00"), Err(IorError::NoPrefix));
    assert_eq!(parse("IORÄ00"), Err(IorError::NoPrefix));
    assert_eq!(parse("IOR:00x0"), Err(IorError::BadDigit { position: 6 }));
    assert_eq!(parse(" IOR:00 0"), Err(IorError::BadDigit { position: 7 }));
    assert_eq!(parse("IOR:000"), Err(IorError::OddDigits { position: 7 }));
    assert_eq!(parse("IOR:"), Err(CdrError::BadEncapsulation.into()));
    assert_eq!(parse("IOR:02"), Err(CdrError::BadEncapsulation.into()));
    assert!(matches!(
        parse("IOR:0100000012000000"),
        Err(IorError::Cdr(CdrError::Truncated { .. }))
    ));
    assert!(matches!(
        parse("IOR:01000000010000000000000000ffffff"),
        Err(IorError::Cdr(_))
    ));
}

#[test]
fn a_type_id_that_cannot_travel_is_still_displayed() {
    let ior = Ior {
        type_id: "IDL:Ж\0ü:1.0".into(),
        profiles: Vec::new(),
    };
    assert!(ior.stringify(ByteOrder::Big).is_err());
    let shown: Ior = ior.to_string().parse().unwrap();
    assert_eq!(shown.type_id, "IDL:??ü:1.0");
}

#[test]
fn tags_have_the_names_of_the_standard() {
    assert_eq!(tags::profile_name(0), Some("IIOP"));
    assert_eq!(tags::component_name(33), Some("CSI_SEC_MECH_LIST"));
    assert_eq!(tags::orb_type_name(0x5441_4f00), Some("TAO"));
    assert_eq!(tags::code_set_name(0x0501_0001), Some("UTF-8"));
    assert_eq!(tags::component_name(0xffff_ffff), None);
}

/// Output of `omniNames -ORBendPoint giop:unix:/tmp/omni` on a host named `vm`.
const OMNIORB_UNIX: &str = "IOR:010000002b00000049444c3a6f6d672e6f72672f436f734e616d696e672f4e616d6\
    96e67436f6e746578744578743a312e30000001000000000000008c0000000101020003000000766d0000000000000b\
    0000004e616d6553657276696365000400000000000000080000000100000000545441010000001c000000010000000\
    10001000100000001000105090101000100000009010100025454411a0000000100000003000000766d00000a000000\
    2f746d702f6f6d6e6900000003545441080000009534026b010037d9";

#[test]
fn a_local_socket_of_omniorb_is_a_host_and_a_path() {
    let ior: Ior = OMNIORB_UNIX.parse().unwrap();
    let profile = ior.iiop_profiles().next().unwrap().unwrap();
    assert_eq!((profile.host.as_str(), profile.port), ("vm", 0));
    let component = &profile.components[2];
    assert_eq!(component.tag, tags::component::OMNIORB_UNIX_TRANS);
    let socket = UnixTrans {
        host: "vm".into(),
        path: "/tmp/omni".into(),
    };
    assert_eq!(component.decode(), Ok(Component::UnixTrans(socket.clone())));
    let made = TaggedComponent::unix_trans(&socket).unwrap();
    assert_eq!(made.decode(), component.decode());
    if ByteOrder::NATIVE == ByteOrder::Little {
        assert_eq!(&made, component, "octet for octet");
    }
}

#[test]
fn association_options_show_their_names() {
    let shown = |bits| AssociationOptions(bits).to_string();
    assert_eq!(shown(0), "0x0000");
    assert_eq!(shown(1), "NoProtection");
    assert_eq!(shown(0x8006), "Integrity, Confidentiality, 0x8000");
}

#[test]
fn a_uiop_profile_has_the_layout_of_tao() {
    let profile = UiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        path: "/s".into(),
        object_key: b"k".to_vec(),
        components: Vec::new(),
    };
    let data = hex("00 01 02 00 00000003 2f7300 00 00000001 6b 000000 00000000");
    assert_eq!(profile.encode(ByteOrder::Big).unwrap(), data);
    let tagged = profile.to_tagged(ByteOrder::Little).unwrap();
    assert_eq!(tagged.tag, tags::profile::TAO_UIOP);
    assert_eq!(tagged.decode(), Ok(Profile::Uiop(profile)));
}

#[test]
fn a_diop_profile_has_the_body_of_iiop_and_a_tag_of_its_own() {
    let same = IiopProfile {
        version: IiopVersion { major: 1, minor: 1 },
        host: "h".into(),
        port: 7,
        object_key: b"k".to_vec(),
        components: vec![TaggedComponent::orb_type(1)],
    };
    let profile = DiopProfile::from(same.clone());
    assert_eq!(
        profile.encode(ByteOrder::Big).unwrap(),
        same.encode(ByteOrder::Big).unwrap()
    );
    let tagged = profile.to_tagged(ByteOrder::Little).unwrap();
    assert_eq!(tagged.tag, tags::profile::TAO_DIOP);
    assert_eq!(tagged.decode(), Ok(Profile::Diop(profile)));
}

#[test]
fn every_truncation_of_a_profile_or_component_is_an_error() {
    let ior = "corbaloc:uiop:1.2@/x,diop:1.2@d:1,shmiop:/y,ssliop:s:2/key";
    let ior = ior.parse::<Corbaloc>().unwrap().to_ior().unwrap().unwrap();
    for profile in ior.profiles {
        assert!(profile.decode().is_ok());
        for end in 0..profile.data.len() {
            let cut = TaggedProfile {
                tag: profile.tag,
                data: profile.data[..end].to_vec(),
            };
            assert!(cut.decode().is_err(), "{end} octets");
        }
    }
    let socket = UnixTrans {
        host: "vm".into(),
        path: "/tmp/omni".into(),
    };
    let ssl = SslSecTrans {
        target_supports: AssociationOptions(0x66),
        target_requires: AssociationOptions(6),
        port: 1,
    };
    for component in [
        TaggedComponent::unix_trans(&socket).unwrap(),
        TaggedComponent::ssl_sec_trans(&ssl),
    ] {
        for end in 0..component.data.len() {
            let cut = TaggedComponent {
                tag: component.tag,
                data: component.data[..end].to_vec(),
            };
            assert!(cut.decode().is_err(), "{end} octets");
        }
    }
}

fn tagged() -> impl Strategy<Value = (u32, Vec<u8>)> {
    (prop_oneof![0u32..40, any::<u32>()], vec(any::<u8>(), 0..40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_not_known_is_kept_octet_for_octet(
        type_id in "[\u{1}-\u{ff}]{0,20}",
        profiles in vec(tagged(), 0..5),
        big: bool,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let profiles = profiles
            .into_iter()
            .map(|(tag, data)| TaggedProfile { tag, data })
            .collect();
        let ior = Ior { type_id, profiles };
        let text = ior.stringify(order).unwrap();
        let back: Ior = text.parse().unwrap();
        prop_assert_eq!(&back, &ior);
        prop_assert_eq!(back.stringify(order).unwrap(), text);
        // As a value within a message, in the message's order.
        let mut out = Encoder::new(Block::from_vec(vec![1]), order, Coding::default());
        ior.marshal(&mut out).unwrap();
        let bytes = out.into_block();
        let mut input = Decoder::new(&bytes, order, Coding::default());
        input.skip(1).unwrap();
        prop_assert_eq!(Ior::unmarshal(&mut input).unwrap(), ior);
        prop_assert_eq!(input.remaining(), 0);
    }

    #[test]
    fn iiop_profiles_survive(
        minor in 0u8..4,
        host in "[a-z.]{0,20}",
        port: u16,
        object_key in vec(any::<u8>(), 0..20),
        components in vec(tagged(), 0..4),
        big: bool,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let components = components
            .into_iter()
            .filter(|_| minor > 0)
            .map(|(tag, data)| TaggedComponent { tag, data })
            .collect();
        let version = IiopVersion { major: 1, minor };
        let profile = IiopProfile { version, host, port, object_key, components };
        let data = profile.encode(order).unwrap();
        prop_assert_eq!(IiopProfile::decode(&data).unwrap(), profile);
    }

    #[test]
    fn uiop_diop_and_pair_profiles_survive(
        minor in 0u8..4,
        path in "[^\0]{0,20}",
        host in "[a-z.]{0,20}",
        port: u16,
        protocol in "[a-zA-Z0-9_.-]{1,6}(\\+[a-z]{1,6}){1,3}",
        places in vec("[^\0]{1,12}", 1..4),
        object_key in vec(any::<u8>(), 0..20),
        components in vec(tagged(), 0..4),
        big: bool,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let components: Vec<_> = components
            .into_iter()
            .filter(|_| minor > 0)
            .map(|(tag, data)| TaggedComponent { tag, data })
            .collect();
        let version = IiopVersion { major: 1, minor };
        let uiop = UiopProfile {
            version,
            path,
            object_key: object_key.clone(),
            components: components.clone(),
        };
        prop_assert_eq!(UiopProfile::decode(&uiop.encode(order).unwrap()).unwrap(), uiop);
        let diop = DiopProfile {
            version,
            host,
            port,
            object_key: object_key.clone(),
            components: components.clone(),
        };
        prop_assert_eq!(DiopProfile::decode(&diop.encode(order).unwrap()).unwrap(), diop);
        let pair = PairProfile { protocol, places, object_key, components };
        prop_assert_eq!(PairProfile::decode(&pair.encode(order).unwrap()).unwrap(), pair);
    }

    #[test]
    fn any_octets_end_in_a_reference_or_an_error_within_bounded_memory(
        tag in prop_oneof![0u32..4, 20u32..21, 0x5441_4f00u32..0x5441_4f05,
            Just(0x5055_4e01), Just(0x4154_5402)],
        data in vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..120),
    ) {
        let allowed = 16 * data.len() + 512;
        let component = TaggedComponent { tag, data: data.clone() };
        prop_assert!(bytes_of(|| component.decode()).peak <= allowed);
        let profile = TaggedProfile { tag, data: data.clone() };
        prop_assert!(bytes_of(|| profile.decode()).peak <= allowed);
        prop_assert!(bytes_of(|| Ior::from_encapsulation(&data)).peak <= allowed);
    }

    #[test]
    fn any_text_ends_in_a_reference_or_an_error(text: String, digits in "[0-9a-fA-F]{0,80}") {
        let _ = text.parse::<Ior>();
        let _ = format!("IOR:{digits}").parse::<Ior>();
        let _ = text.parse::<Corbaloc>();
        let _ = format!("corbaloc:{text}").parse::<Corbaloc>();
    }

    #[test]
    fn mutations_of_a_good_reference_do_no_harm(
        changes in vec((0usize..128, any::<u8>()), 1..6),
        cut in 0usize..128,
    ) {
        let mut octets = hex(&OMNIORB[4..]);
        for (at, octet) in changes {
            octets[at] = octet;
        }
        for octets in [&octets[..], &octets[..cut]] {
            if let Ok(ior) = Ior::from_encapsulation(octets) {
                for profile in &ior.profiles {
                    if let Ok(Profile::Iiop(profile)) = profile.decode() {
                        let _ = (profile.endpoints().count(), profile.code_sets());
                        let components = profile.components.iter();
                        let _ = components.filter(|it| it.decode().is_ok()).count();
                    }
                }
            }
        }
    }
}
