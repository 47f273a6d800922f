//! Tests of valid and invalid `corbaloc:` URLs.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_ior::{
    Address, AssociationOptions, Component, Corbaloc, CorbalocError, CorbalocPart, KeyMark, Profile,
};

fn iiop(minor: u8, host: &str, port: u16) -> Address {
    Address::Iiop {
        major: 1,
        minor,
        host: host.into(),
        port,
    }
}

#[test]
fn good_urls_mean_what_the_standard_says() {
    let cases: [(&str, Vec<Address>, &[u8]); 13] = [
        ("corbaloc::host/key", vec![iiop(0, "host", 2809)], b"key"),
        ("corbaloc:iiop:host:1/k", vec![iiop(0, "host", 1)], b"k"),
        ("corbaloc::1.2@h-1.x:99/k", vec![iiop(2, "h-1.x", 99)], b"k"),
        ("CORBALOC:IIOP:1.1@h/k", vec![iiop(1, "h", 2809)], b"k"),
        ("corbaloc::1.7@h/k", vec![iiop(7, "h", 2809)], b"k"),
        ("corbaloc::[::1]:7/k", vec![iiop(0, "::1", 7)], b"k"),
        (
            "corbaloc::1.2@[fe80::1]/k",
            vec![iiop(2, "fe80::1", 2809)],
            b"k",
        ),
        (
            "corbaloc:iiop:1.2@h1:1,iiop:1.1@h2,:h3:3/a/b,c",
            vec![iiop(2, "h1", 1), iiop(1, "h2", 2809), iiop(0, "h3", 3)],
            b"a/b,c",
        ),
        (
            "corbaloc::h/%00%ff%2Fx",
            vec![iiop(0, "h", 2809)],
            b"\0\xff/x",
        ),
        ("corbaloc:::7/k", vec![iiop(0, "localhost", 7)], b"k"),
        ("corbaloc:rir:", vec![Address::Rir], b"NameService"),
        ("corbaloc:rir:/", vec![Address::Rir], b"NameService"),
        ("corbaloc:rir:/RootPOA", vec![Address::Rir], b"RootPOA"),
    ];
    for (url, addresses, key) in cases {
        let parsed: Corbaloc = url.parse().unwrap();
        assert_eq!(parsed.addresses, addresses, "{url}");
        assert_eq!(parsed.key, key, "{url}");
        assert_eq!(parsed.to_string().parse(), Ok(parsed), "{url}");
    }
}

#[test]
fn bad_urls_tell_which_part_is_at_fault() {
    use CorbalocPart::{Address, Scheme, SchemeSpecific};
    let cases = [
        ("", Scheme),
        ("corbaloc", Scheme),
        ("corbaname::h", Scheme),
        ("IOR:00", Scheme),
        ("corbälöc::h", Scheme),
        ("corbaloc:", Address),
        ("corbaloc:/k", Address),
        ("corbaloc:host/k", Address),
        ("corbaloc:foo:host/k", Address),
        ("corbaloc:sciop:h/k", Address),
        ("corbaloc:uiop:x|k", Address),
        ("corbaloc:uiop:|k", Address),
        ("corbaloc:uiop:2.0@/tmp/x|k", Address),
        ("corbaloc:uiop:/tmp/a b|k", SchemeSpecific),
        ("corbaloc:uiop:/tmp/%ff|k", Address),
        ("corbaloc:uiop:/tmp/%00|k", Address),
        ("corbaloc:ssliop:1.0@h/k", Address),
        ("corbaloc:ssliop:h:0/k", Address),
        ("corbaloc:diop:h h/k", Address),
        ("corbaloc:shmiop:|k", Address),
        ("corbaloc:giop_lite+uiop:/x,", Address),
        ("corbaloc:giop_lite+:/tmp/x|k", Address),
        ("corbaloc:+uiop:/tmp/x|k", Address),
        ("corbaloc:giop+iiop:", Address),
        ("corbaloc::h,/k", Address),
        ("corbaloc:,:h/k", Address),
        ("corbaloc::h,:h2,rir:/k", Address),
        ("corbaloc:rir:,:h/k", Address),
        ("corbaloc:rir:h/k", Address),
        ("corbaloc::2.0@h/k", Address),
        ("corbaloc::1@h/k", Address),
        ("corbaloc::1.x@h/k", Address),
        ("corbaloc::1.+2@h/k", Address),
        ("corbaloc::1.300@h/k", Address),
        ("corbaloc::@h/k", Address),
        ("corbaloc::h:/k", Address),
        ("corbaloc::h:0/k", Address),
        ("corbaloc::h:+1/k", Address),
        ("corbaloc::h:65536/k", Address),
        ("corbaloc::h:x/k", Address),
        ("corbaloc::::1/k", Address),
        ("corbaloc::[::1/k", Address),
        ("corbaloc::[::1]x/k", Address),
        ("corbaloc::[h]/k", Address),
        ("corbaloc::h h/k", Address),
        ("corbaloc::hä/k", Address),
        ("corbaloc::h/%", SchemeSpecific),
        ("corbaloc::h/%1", SchemeSpecific),
        ("corbaloc::h/%g0", SchemeSpecific),
        ("corbaloc::h/%+1", SchemeSpecific),
        ("corbaloc::h/a b", SchemeSpecific),
        ("corbaloc::h/ä", SchemeSpecific),
        ("corbaloc::h/a\n", SchemeSpecific),
    ];
    for (url, part) in cases {
        let error = url.parse::<Corbaloc>().expect_err(url);
        assert_eq!(error.part(), part, "{url}: {error}");
    }
}

#[test]
fn an_unknown_protocol_is_named() {
    let error = "corbaloc::h,SCIOP:x/k".parse::<Corbaloc>().unwrap_err();
    assert_eq!(
        error,
        CorbalocError::UnsupportedProtocol {
            protocol: "SCIOP".into(),
            known: true
        }
    );
    assert_eq!(
        error.to_string(),
        "the protocol 'SCIOP' is not supported yet"
    );
    let error = "corbaloc:http:x/k".parse::<Corbaloc>().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the protocol 'http' is not supported; a link of the program's own"),
        "{error}"
    );
}

#[test]
fn a_missing_key_is_refused_with_where_it_would_stand() {
    let slash = CorbalocError::NoKey {
        behind: KeyMark::Slash,
    };
    let bar = CorbalocError::NoKey {
        behind: KeyMark::Bar,
    };
    for url in [
        "corbaloc::host",
        "corbaloc::host/",
        "corbaloc:giop+inproc:x",
    ] {
        assert_eq!(url.parse::<Corbaloc>(), Err(slash.clone()), "{url}");
    }
    // The slash that was meant to precede a key belongs to the path.
    for url in [
        "corbaloc:uiop:/tmp/x/Key",
        "corbaloc:uiop:1.2@/tmp/x|",
        "corbaloc:shmiop:/tmp/x",
        "corbaloc::h,giop_lite+uiop:/tmp/x",
    ] {
        assert_eq!(url.parse::<Corbaloc>(), Err(bar.clone()), "{url}");
    }
    assert_eq!(bar.part(), CorbalocPart::SchemeSpecific);
    assert!(bar.to_string().ends_with("corbaloc:uiop:/run/server|Key"));
    assert!(slash.to_string().ends_with("corbaloc::host:2809/Key"));
}

#[test]
fn errors_in_a_key_tell_where() {
    let error = "corbaloc::h/ab%2".parse::<Corbaloc>();
    assert_eq!(error, Err(CorbalocError::BadEscape { position: 14 }));
    let error = "corbaloc::h/a b".parse::<Corbaloc>();
    assert_eq!(error, Err(CorbalocError::BadKeyCharacter { position: 13 }));
}

#[test]
fn a_url_stands_for_a_profile_for_each_address() {
    let url: Corbaloc = "corbaloc::1.2@a:1,:b/key".parse().unwrap();
    let ior = url.to_ior().unwrap().unwrap();
    assert_eq!(ior.type_id, "");
    let profiles: Vec<_> = ior.iiop_profiles().map(Result::unwrap).collect();
    let facts: Vec<_> = profiles
        .iter()
        .map(|it| {
            (
                it.version.minor,
                it.host.as_str(),
                it.port,
                &it.object_key[..],
            )
        })
        .collect();
    assert_eq!(facts, [(2, "a", 1, &b"key"[..]), (0, "b", 2809, b"key")]);
    let url: Corbaloc = "corbaloc:rir:/x".parse().unwrap();
    assert!(url.is_rir());
    assert_eq!(url.to_ior(), Ok(None));
}

fn uiop(minor: u8, path: &str) -> Address {
    Address::Uiop {
        major: 1,
        minor,
        path: path.into(),
    }
}

fn pair(protocol: &str, place: &str) -> Address {
    Address::Pair {
        protocol: protocol.into(),
        place: place.into(),
    }
}

#[test]
fn other_protocols_have_addresses_of_their_own() {
    let ssliop = |minor, port| Address::Ssliop {
        major: 1,
        minor,
        host: "h".into(),
        port,
    };
    let diop = Address::Diop {
        major: 1,
        minor: 0,
        host: "h".into(),
        port: 99,
    };
    let cases: [(&str, Vec<Address>, &[u8]); 18] = [
        ("corbaloc:uiop:1.2@/tmp/x|k", vec![uiop(2, "/tmp/x")], b"k"),
        (
            "corbaloc:UIOP:/tmp/x|a|/b",
            vec![uiop(0, "/tmp/x")],
            b"a|/b",
        ),
        ("corbaloc:uiop:/a@b|k", vec![uiop(0, "/a@b")], b"k"),
        (
            "corbaloc:uiop:/a%20%2c%c3%a4|k",
            vec![uiop(0, "/a ,ä")],
            b"k",
        ),
        (
            "corbaloc:uiop:1.2@/x,iiop:1.2@h:1/k",
            vec![uiop(2, "/x"), iiop(2, "h", 1)],
            b"k",
        ),
        (
            "corbaloc:iiop:1.2@h:1,uiop:1.2@/x|k",
            vec![iiop(2, "h", 1), uiop(2, "/x")],
            b"k",
        ),
        ("corbaloc:ssliop:h:99/k", vec![ssliop(2, 99)], b"k"),
        ("corbaloc:ssliop:1.1@h/k", vec![ssliop(1, 684)], b"k"),
        ("corbaloc:diop:h:99/k", vec![diop], b"k"),
        (
            "corbaloc:shmiop:/tmp/x|k",
            vec![pair("giop+shmiop", "/tmp/x")],
            b"k",
        ),
        (
            "corbaloc:inproc:name/k",
            vec![pair("giop+inproc", "name")],
            b"k",
        ),
        (
            "corbaloc:giop_lite+uiop:/tmp/x|k/l",
            vec![pair("giop_lite+uiop", "/tmp/x")],
            b"k/l",
        ),
        (
            "corbaloc:giop_lite+iiop:h:1/k",
            vec![pair("giop_lite+iiop", "h:1")],
            b"k",
        ),
        (
            "corbaloc:giop+reliable+diop:[::1]:1/k",
            vec![pair("giop+reliable+diop", "[::1]:1")],
            b"k",
        ),
        (
            "corbaloc:giop+mine:any%2fplace/k",
            vec![pair("giop+mine", "any/place")],
            b"k",
        ),
        (
            "corbaloc:giop+shmiop:/x,giop+shmiop:/y|k",
            vec![pair("giop+shmiop", "/x"), pair("giop+shmiop", "/y")],
            b"k",
        ),
        (
            "corbaloc:giop+shmiop:/x,:h/k",
            vec![pair("giop+shmiop", "/x"), iiop(0, "h", 2809)],
            b"k",
        ),
        ("corbaloc:iiop:/k", vec![iiop(0, "localhost", 2809)], b"k"),
    ];
    for (url, addresses, key) in cases {
        let parsed: Corbaloc = url.parse().expect(url);
        assert_eq!(parsed.addresses, addresses, "{url}");
        assert_eq!(parsed.key, key, "{url}");
        assert_eq!(parsed.to_string().parse(), Ok(parsed), "{url}");
    }
}

#[test]
fn each_protocol_stands_for_the_profile_that_it_has() {
    let profiles = |url: &str| {
        let url: Corbaloc = url.parse().unwrap();
        let ior = url.to_ior().unwrap().unwrap();
        let decoded = ior.profiles.iter().map(|it| it.decode().unwrap());
        decoded.collect::<Vec<_>>()
    };
    let all = profiles("corbaloc:uiop:1.2@/x,diop:d:1,shmiop:/y,ssliop:s:2/key");
    let [
        Profile::Uiop(uiop),
        Profile::Diop(diop),
        Profile::Pair(pair),
        Profile::Iiop(iiop),
    ] = &all[..]
    else {
        panic!("one of each expected: {all:?}");
    };
    assert_eq!(
        (uiop.path.as_str(), &uiop.object_key[..]),
        ("/x", &b"key"[..])
    );
    assert_eq!((diop.host.as_str(), diop.port), ("d", 1));
    assert_eq!((pair.messaging(), pair.link()), ("giop", "shmiop"));
    assert_eq!(pair.places, ["/y"]);
    assert_eq!((iiop.host.as_str(), iiop.port), ("s", 0));
    let Ok(Component::SslSecTrans(ssl)) = iiop.components[0].decode() else {
        panic!("a component with the port expected");
    };
    assert_eq!(ssl.port, 2);
    assert!(
        ssl.target_requires
            .contain(AssociationOptions::CONFIDENTIALITY)
    );
    assert!(ssl.target_supports.contain(ssl.target_requires));
}

fn any_address() -> impl Strategy<Value = Address> {
    let host = || ("[a-z0-9.-]{1,12}", 1u16.., 0u8..3);
    prop_oneof![
        host().prop_map(|(host, port, minor)| iiop(minor, &host, port)),
        host().prop_map(|(host, port, minor)| Address::Ssliop {
            major: 1,
            minor: minor.max(1),
            host,
            port
        }),
        host().prop_map(|(host, port, minor)| Address::Diop {
            major: 1,
            minor,
            host,
            port
        }),
        (0u8..3, "/[^\\p{Cc}]{0,20}").prop_map(|(minor, path)| uiop(minor, &path)),
        ("[a-z_]{1,6}(\\+[a-z]{1,6}){1,2}", "[^\\p{Cc}]{1,20}")
            .prop_map(|(protocol, place)| pair(&protocol, &place)),
    ]
}

proptest! {
    #[test]
    fn what_is_displayed_reads_back(
        addresses in vec(any_address(), 1..4),
        key in vec(any::<u8>(), 1..20),
    ) {
        let url = Corbaloc { addresses, key };
        prop_assert_eq!(url.to_string().parse::<Corbaloc>(), Ok(url));
    }
}

#[test]
fn a_url_stands_for_no_reference_that_is_many_times_as_long() {
    let url = |addresses: usize, key: usize| {
        let addresses = vec![":h"; addresses].join(",");
        format!("corbaloc:{addresses}/{}", "k".repeat(key)).parse::<Corbaloc>()
    };
    assert_eq!(url(256, 100).unwrap().addresses.len(), 256);
    let most = |most| Err(CorbalocError::TooManyAddresses { most });
    assert_eq!(url(257, 1), most(256));
    // Each address becomes a profile with the key.
    assert!(url(16, 16 << 10).is_err());
    assert!(url(5, 16 << 10).is_ok());
    assert!(url(2, 1 << 20).is_ok() && url(4, 1 << 20).is_err());
    assert_eq!(url(1, 1 << 20).unwrap().key.len(), 1 << 20);
    let reference = url(256, 257).unwrap().to_ior().unwrap().unwrap();
    let octets: usize = reference.profiles.iter().map(|one| one.data.len()).sum();
    assert!(octets < 100_000, "{octets}");
}
