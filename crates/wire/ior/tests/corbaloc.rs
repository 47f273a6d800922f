//! `corbaloc:` URLs, good and bad.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_ior::{Address, Corbaloc, CorbalocError, CorbalocPart};

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
    let cases: [(&str, Vec<Address>, &[u8]); 14] = [
        ("corbaloc::host", vec![iiop(0, "host", 2809)], b""),
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
        ("corbaloc:uiop:1.2@/tmp/x|k", Address),
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
    let error = "corbaloc::h,uiop:x/k".parse::<Corbaloc>().unwrap_err();
    assert_eq!(
        error,
        CorbalocError::UnsupportedProtocol {
            protocol: "uiop".into(),
            known: true
        }
    );
    assert_eq!(
        error.to_string(),
        "the protocol 'uiop' is not supported yet"
    );
    let error = "corbaloc:http:x/k".parse::<Corbaloc>().unwrap_err();
    assert_eq!(error.to_string(), "the protocol 'http' is not supported");
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

proptest! {
    #[test]
    fn what_is_displayed_reads_back(
        addresses in vec((0u8..3, "[a-z0-9.-]{1,12}", 1u16..), 1..4),
        key in vec(any::<u8>(), 0..20),
    ) {
        let addresses = addresses
            .into_iter()
            .map(|(minor, host, port)| iiop(minor, &host, port))
            .collect();
        let url = Corbaloc { addresses, key };
        prop_assert_eq!(url.to_string().parse::<Corbaloc>(), Ok(url));
    }
}
