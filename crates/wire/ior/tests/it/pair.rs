//! Profiles that name a messaging protocol and a link.

use super::hex::hex;
use punctual_cdr::{ByteOrder, CdrError};
use punctual_ior::{IorError, PairProfile, Profile, tags};

fn pair(protocol: &str, places: &[&str]) -> PairProfile {
    PairProfile {
        protocol: protocol.into(),
        places: places.iter().map(|&place| place.into()).collect(),
        object_key: b"k".to_vec(),
        components: Vec::new(),
    }
}

#[test]
fn a_pair_profile_names_both_protocols_and_each_place() {
    let profile = pair("giop_lite+uiop", &["/a", "/b"]);
    let data = hex(
        "00 01 00 00 0000000f 67696f705f6c6974652b75696f7000 00 00000002 00000003 2f6100 00 \
         00000003 2f6200 00 00000001 6b 000000 00000000",
    );
    assert_eq!(profile.encode(ByteOrder::Big).unwrap(), data);
    assert_eq!(profile.messaging(), "giop_lite");
    assert_eq!(profile.link(), "uiop");
    assert_eq!(pair("giop+reliable+diop", &["x"]).link(), "reliable+diop");
    let mut later = data.clone();
    later[2] = 9;
    later.push(1);
    assert_eq!(PairProfile::decode(&later), Ok(profile.clone()));
    later[1] = 2;
    assert_eq!(
        PairProfile::decode(&later),
        Err(IorError::UnsupportedVersion { major: 2, minor: 9 })
    );
    let tagged = profile.to_tagged(ByteOrder::Little).unwrap();
    assert_eq!(tagged.tag, tags::profile::PUNCTUAL_PAIR);
    assert_eq!(tagged.decode(), Ok(Profile::Pair(profile)));
}

#[test]
fn a_pair_profile_without_a_pair_or_a_place_is_none() {
    for (protocol, places) in [
        ("", &["/a"][..]),
        ("giop", &["/a"]),
        ("giop+", &["/a"]),
        ("+uiop", &["/a"]),
        ("giop++uiop", &["/a"]),
        ("giop+ü", &["/a"]),
        ("giop+uiop", &[]),
        ("giop+uiop", &[""]),
    ] {
        let encoded = pair(protocol, places).encode(ByteOrder::Big);
        assert!(matches!(encoded, Err(CdrError::Invalid(_))), "{protocol}");
    }
    let good = pair("giop+uiop", &["/a"]).encode(ByteOrder::Big).unwrap();
    let mut bad = good.clone();
    bad[12] = b' ';
    let read = PairProfile::decode(&bad);
    assert!(matches!(read, Err(IorError::Cdr(CdrError::Invalid(_)))));
    let mut crowd = good;
    crowd[20..24].copy_from_slice(&0x0100_0000u32.to_be_bytes());
    let read = PairProfile::decode(&crowd);
    assert!(matches!(
        read,
        Err(IorError::Cdr(CdrError::Truncated { .. }))
    ));
}
