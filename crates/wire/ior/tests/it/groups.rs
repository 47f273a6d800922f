//! Tests of references of object groups (CORBA 3.0, chapter 23).

#![allow(clippy::unwrap_used)]

use punctual_cdr::{ByteOrder, CdrError};
use punctual_ior::{
    Component, FtGroup, GroupError, IiopProfile, IiopVersion, Ior, PairProfile, TaggedComponent,
    TaggedProfile, tags,
};

fn group(version: u32) -> FtGroup {
    FtGroup {
        domain: "plant".to_owned(),
        id: 0x1_0000_0007,
        version,
    }
}

fn profile(port: u16, minor: u8) -> TaggedProfile {
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor },
        host: "127.0.0.1".to_owned(),
        port,
        object_key: b"key".to_vec(),
        components: vec![TaggedComponent::orb_type(tags::orb_type::PUNCTUAL)],
    };
    profile.to_tagged(ByteOrder::Little).unwrap()
}

fn member(ports: &[u16]) -> Ior {
    Ior {
        type_id: "IDL:Member:1.0".to_owned(),
        profiles: ports.iter().map(|port| profile(*port, 2)).collect(),
    }
}

fn ports(ior: &Ior) -> Vec<u16> {
    let profiles = ior.iiop_profiles().map(Result::unwrap);
    profiles.map(|profile| profile.port).collect()
}

#[test]
fn the_primarys_profiles_stand_first_and_alone_are_marked() {
    let members = [member(&[1, 2]), member(&[3]), member(&[4])];
    let ior = Ior::of_group("IDL:Group:1.0", &group(5), &members, Some(1)).unwrap();
    assert_eq!(ior.type_id, "IDL:Group:1.0");
    assert_eq!(ports(&ior), [3, 1, 2, 4]);
    assert_eq!(ior.group(), Some(group(5)));
    for (index, profile) in ior.profiles.iter().enumerate() {
        assert_eq!(profile.group(), Some((group(5), index == 0)));
        let kept = TaggedComponent::orb_type(tags::orb_type::PUNCTUAL);
        assert!(profile.components().contains(&kept));
    }
    assert_eq!(members[0].group(), None);
}

#[test]
fn a_group_made_anew_replaces_version_and_primary() {
    let members = [member(&[1]), member(&[2])];
    let old = Ior::of_group("IDL:Group:1.0", &group(1), &members, Some(0)).unwrap();
    let split = |profile: &TaggedProfile| Ior {
        type_id: old.type_id.clone(),
        profiles: vec![profile.clone()],
    };
    let members: Vec<Ior> = old.profiles.iter().map(split).collect();
    let new = Ior::of_group("IDL:Group:1.0", &group(2), &members, Some(1)).unwrap();
    assert_eq!(ports(&new), [2, 1]);
    let stated: Vec<_> = new.profiles.iter().map(TaggedProfile::group).collect();
    assert_eq!(stated, [Some((group(2), true)), Some((group(2), false))]);
    for profile in &new.profiles {
        let groups = profile.components().into_iter();
        let groups = groups.filter(|one| one.tag == tags::component::FT_GROUP);
        assert_eq!(groups.count(), 1);
    }
}

#[test]
fn profiles_without_components_are_taken_as_they_are() {
    let unknown = TaggedProfile {
        tag: 0x5000_0000,
        data: vec![1, 2, 3],
    };
    let pair = PairProfile {
        protocol: "giop_lite+uiop".to_owned(),
        places: vec!["/tmp/x".to_owned()],
        object_key: b"key".to_vec(),
        components: Vec::new(),
    };
    let old = profile(9, 0);
    let member = Ior {
        type_id: String::new(),
        profiles: vec![
            unknown.clone(),
            old.clone(),
            pair.to_tagged(ByteOrder::Big).unwrap(),
        ],
    };
    let ior = Ior::of_group("", &group(1), &[member], None).unwrap();
    assert_eq!(ior.profiles[..2], [unknown, old]);
    assert_eq!(ior.profiles[2].group(), Some((group(1), false)));
    assert_eq!(ior.group(), Some(group(1)));
}

#[test]
fn a_member_has_its_share_of_profiles_and_octets_and_no_more() {
    let many: Vec<u16> = (0..200).collect();
    let members: Vec<Ior> = (0..40_u16)
        .map(|of| member(&many.iter().map(|port| of * 200 + port).collect::<Vec<_>>()))
        .collect();
    let ior = Ior::of_group("", &group(1), &members, Some(31)).unwrap();
    assert_eq!(ior.profiles.len(), 128);
    for of in 0..32 {
        let own = ports(&ior).into_iter().filter(|port| port / 200 == of);
        assert_eq!(own.count(), 4, "{of}");
    }
    let mut greedy = member(&[1]);
    greedy.profiles.push(TaggedProfile {
        tag: 0x5000_0000,
        data: vec![0; Ior::MOST_OCTETS as usize / 2],
    });
    let ior = Ior::of_group("", &group(1), &[greedy, member(&[2])], None).unwrap();
    assert_eq!(ports(&ior), [1, 2]);
    assert_eq!(ior.profiles.len(), 2);
    let text = ior.stringify(ByteOrder::Big).unwrap();
    assert_eq!(text.parse(), Ok(ior));
}

#[test]
fn addresses_of_members_with_the_same_key_are_alternates_of_the_first_profile() {
    let mut other = member(&[4]);
    let mut profile = IiopProfile::decode(&other.profiles[0].data).unwrap();
    profile.object_key = b"another".to_vec();
    other.profiles = vec![profile.to_tagged(ByteOrder::Big).unwrap()];
    let members = [member(&[1]), member(&[2, 3]), other];
    let ior = Ior::of_group("", &group(1), &members, Some(0)).unwrap();
    let ior = ior.with_alternate_addresses().unwrap();
    let first = ior.iiop_profiles().next().unwrap().unwrap();
    let ports_of_first: Vec<u16> = first.endpoints().map(|one| one.port).collect();
    assert_eq!(ports_of_first, [1, 2, 3]);
    assert_eq!(ports(&ior), [1, 2, 3, 4]);
    assert_eq!(ior.group(), Some(group(1)));
    assert_eq!(ior.with_alternate_addresses(), Ok(ior));
}

#[test]
fn what_makes_no_group_is_refused() {
    let made = |members: &[Ior], primary| Ior::of_group("", &group(1), members, primary);
    assert_eq!(made(&[], None), Err(GroupError::NoMember));
    assert_eq!(made(&[Ior::nil()], None), Err(GroupError::NoMember));
    assert_eq!(
        made(&[member(&[1])], Some(1)),
        Err(GroupError::NoSuchPrimary)
    );
    let mut long = group(1);
    long.domain = "x".repeat(257);
    let Err(GroupError::Cdr(error)) = Ior::of_group("", &long, &[member(&[1])], None) else {
        panic!("a long domain is refused");
    };
    assert!(matches!(
        error,
        CdrError::LengthOverLimit {
            length: 257,
            limit: 256
        }
    ));
}

#[test]
fn components_of_groups_are_read_as_written_and_refused_when_cut_short() {
    let components = [
        (
            TaggedComponent::ft_group(&group(3)).unwrap(),
            Component::FtGroup(group(3)),
        ),
        (
            TaggedComponent::ft_primary(true),
            Component::FtPrimary(true),
        ),
        (
            TaggedComponent::ft_heartbeat_enabled(false),
            Component::FtHeartbeatEnabled(false),
        ),
    ];
    for (tagged, meaning) in components {
        assert_eq!(tagged.decode(), Ok(meaning));
        for end in 0..tagged.data.len() {
            let cut = TaggedComponent {
                tag: tagged.tag,
                data: tagged.data[..end].to_vec(),
            };
            assert!(cut.decode().is_err(), "{end} of {tagged:?}");
        }
    }
}

#[test]
fn the_encoding_of_a_group_is_the_standards() {
    // Version 1.0, "ft" with its length, the id at a multiple of 8, the version.
    let data = [
        0, 1, 0, 0, 0, 0, 0, 3, b'f', b't', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 4,
    ];
    let tagged = TaggedComponent {
        tag: tags::component::FT_GROUP,
        data: data.to_vec(),
    };
    let expected = FtGroup {
        domain: "ft".to_owned(),
        id: 9,
        version: 4,
    };
    assert_eq!(tagged.decode(), Ok(Component::FtGroup(expected)));
    let mut later = tagged.clone();
    later.data[2] = 5;
    assert_eq!(later.decode(), tagged.decode());
    later.data[1] = 2;
    assert!(later.decode().is_err());
}
