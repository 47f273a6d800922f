//! References of multicast groups (MIOP): profile, components, URL.

use punctual_cdr::ByteOrder;
use punctual_ior::{
    Address, Component, Corbaloc, CorbalocError, GroupInfo, IiopProfile, IiopVersion, Profile,
    TaggedComponent, TaggedProfile, UipmcProfile, tags,
};

fn gateway() -> IiopProfile {
    IiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        host: "h".to_owned(),
        port: 2809,
        object_key: b"key".to_vec(),
        components: Vec::new(),
    }
}

fn read(url: &str) -> UipmcProfile {
    let corbaloc: Corbaloc = url.parse().expect(url);
    assert_eq!(corbaloc.to_string().parse(), Ok(corbaloc.clone()), "{url}");
    let ior = corbaloc.to_ior().unwrap().unwrap();
    match ior.profiles[0].decode() {
        Ok(Profile::Uipmc(profile)) => profile,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn a_profile_is_read_in_both_byte_orders() {
    let group = GroupInfo {
        reference_version: 7,
        ..GroupInfo::new("plant", 0x0102_0304_0506_0708)
    };
    let profile = UipmcProfile::of_group(&group, ("239.255.0.1", 5555), Some(&gateway())).unwrap();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let tagged = profile.to_tagged(order).unwrap();
        assert_eq!(tagged.tag, tags::profile::UIPMC);
        assert_eq!(tagged.decode(), Ok(Profile::Uipmc(profile.clone())));
        assert_eq!(tagged.components(), profile.components);
    }
    assert_eq!(profile.group(), Some(group));
    let data = profile.group_iiop().unwrap();
    assert_eq!(IiopProfile::decode(data), Ok(gateway()));
}

#[test]
fn the_bytes_of_a_profile_are_the_standards() {
    let profile = UipmcProfile {
        version: IiopVersion { major: 1, minor: 0 },
        address: "225.1.1.8".to_owned(),
        port: 5555,
        components: vec![TaggedComponent::group(&GroupInfo::new("d", 1)).unwrap()],
    };
    let data = profile.encode(ByteOrder::Big).unwrap();
    let expected = [
        &[0, 1, 0, 0, 0, 0, 0, 10][..],
        b"225.1.1.8\0",
        &[0x15, 0xb3],
        &[0, 0, 0, 1, 0, 0, 0, 39],
    ]
    .concat();
    assert_eq!(data[..expected.len()], expected);
    let group = TaggedProfile {
        tag: tags::profile::UIPMC,
        data,
    };
    let components = group.components();
    // Byte order, version and padding; the domain and its padding; the id; the version of the reference.
    assert_eq!(components[0].data.len(), 4 + 8 + 4 + 8 + 4);
}

#[test]
fn urls_name_domain_id_version_address_and_gateway() {
    let plain = read("corbaloc:miop:1.0@1.0-TestDomain-1/224.1.239.2:1234");
    assert_eq!((plain.address.as_str(), plain.port), ("224.1.239.2", 1234));
    assert_eq!(plain.group(), Some(GroupInfo::new("TestDomain", 1)));
    assert_eq!(plain.group_iiop(), None);
    let bare = read("corbaloc:MIOP:1.0-TestDomain-1/224.1.239.2:1234");
    assert_eq!(bare, plain);
    let versioned = read("corbaloc:miop:1.0@1.0-a%2db-18446744073709551615-9/[ff02::1]:7");
    assert_eq!(versioned.address, "ff02::1");
    let group = versioned.group().unwrap();
    assert_eq!((group.domain.as_str(), group.id), ("a-b", u64::MAX));
    assert_eq!(group.reference_version, 9);
    assert!(group.is_same_group(&GroupInfo::new("a-b", u64::MAX)));
    let group = "corbaloc:miop:1.0@1.0-TestDomain-1/224.1.239.2:1234;";
    for gateway_url in ["iiop:1.2@h:2809/key", "corbaloc:iiop:1.2@h:2809/key"] {
        let with = read(&format!("{group}{gateway_url}"));
        let data = with.group_iiop().unwrap();
        assert_eq!(IiopProfile::decode(data), Ok(gateway()));
    }
}

#[test]
fn jacorbs_gateway_is_found_under_the_tag_of_an_iiop_profile() {
    let mut profile = read("corbaloc:miop:1.0@1.0-TestDomain-1/224.1.239.2:1234");
    profile.components.push(TaggedComponent::orb_type(7));
    assert_eq!(profile.group_iiop(), None);
    profile.components.push(TaggedComponent {
        tag: tags::profile::INTERNET_IOP,
        data: gateway().encode(ByteOrder::Big).unwrap(),
    });
    let data = profile.group_iiop().unwrap();
    assert_eq!(IiopProfile::decode(data), Ok(gateway()));
}

#[test]
fn urls_that_are_not_of_a_group_are_refused() {
    let long = format!("corbaloc:miop:1.0-{}-1/224.1.1.1:1", "d".repeat(300));
    let urls = [
        "corbaloc:miop:",
        "corbaloc:miop:1.0@1.0-domain-1",
        "corbaloc:miop:1.0@domain-1/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0--1/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain-x/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain-1-x/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain-1-4294967296/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain-18446744073709551616/224.1.1.1:1",
        "corbaloc:miop:2.0@1.0-domain-1/224.1.1.1:1",
        "corbaloc:miop:1.0@2.0-domain-1/224.1.1.1:1",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:0",
        "corbaloc:miop:1.0@1.0-domain-1/10.0.0.1:1",
        "corbaloc:miop:1.0@1.0-domain-1/host:1",
        "corbaloc:miop:1.0@1.0-domain-1/[::1]:1",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:1;",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:1;iiop:h:1",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:1;iiop:h:1/",
        "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:1;uiop:/x|k",
        &long,
    ];
    for url in urls {
        assert!(url.parse::<Corbaloc>().is_err(), "{url}");
    }
    let beside = "corbaloc::h,miop:1.0@1.0-domain-1/224.1.1.1:1/k";
    assert_eq!(beside.parse::<Corbaloc>(), Err(CorbalocError::MiopNotAlone));
}

#[test]
fn a_domain_that_is_too_long_is_neither_written_nor_read() {
    let group = GroupInfo::new(&"d".repeat(257), 1);
    assert!(TaggedComponent::group(&group).is_err());
    let longest = GroupInfo::new(&"d".repeat(256), 1);
    let mut component = TaggedComponent::group(&longest).unwrap();
    assert_eq!(component.decode(), Ok(Component::Group(longest)));
    component.data.truncate(40);
    assert!(component.decode().is_err());
}

#[test]
fn a_group_has_no_key() {
    let url = "corbaloc:miop:1.0@1.0-domain-1/224.1.1.1:1";
    let corbaloc: Corbaloc = url.parse().unwrap();
    assert_eq!(corbaloc.key, b"");
    assert!(matches!(&corbaloc.addresses[..], [Address::Miop { .. }]));
    assert_eq!(corbaloc.to_string(), url);
}
