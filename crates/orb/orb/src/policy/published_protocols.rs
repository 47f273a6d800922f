//! ClientProtocolPolicy in references: the protocols that a server wants its clients to prefer (Real-time CORBA 1.2,
//! §5.15), in TAO's encoding.
//!
//! ```text
//! sequence of { ulong profile tag; properties of GIOP: none; properties of the transport }
//! of TCP      { long send_buffer_size; long recv_buffer_size; boolean keep_alive; boolean dont_route; boolean no_delay; }
//! of UIOP     { long send_buffer_size; long recv_buffer_size; }
//! of DIOP     none
//! ```
//! A protocol is identified by the tag of its profile: one without a tag of its own cannot be
//! published. Properties are the POA's for the link, else what connections have without any (0 for
//! sizes: the operating system's). A client that has no ClientProtocolPolicy itself applies both, the preference and the
//! properties, to the connections that it opens; properties that it has set itself it keeps. Of the properties it ignores what
//! it ignores in our own form: `dont_route` is read, and not obeyed.

use super::any_policy::Policy;
use super::published_properties;
use super::values::{ClientProtocols, Otherwise};
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_ior::tags::profile::{INTERNET_IOP, TAO_DIOP, TAO_SCIOP, TAO_SHMIOP, TAO_UIOP};

/// Protocols and the tags of their profiles. TLS uses the profile of TCP.
const TAGGED: [(&str, u32); 4] = [
    ("iiop", INTERNET_IOP),
    ("ssliop", INTERNET_IOP),
    ("uiop", TAO_UIOP),
    ("giop_oneway+diop", TAO_DIOP),
];

pub(super) fn write(policy: &Policy, set: &[Policy]) -> Result<Vec<u8>, CdrError> {
    let Policy::ClientProtocols(protocols) = policy else {
        return Err(CdrError::BadEncapsulation);
    };
    let tag_of = |name: &String| {
        let known = TAGGED.iter().find(|(known, _)| known == name);
        known.map(|(_, tag)| *tag).ok_or(CdrError::Invalid(
            "of the protocols that clients are to prefer, iiop, ssliop, uiop and giop_oneway+diop have a profile tag of \
             their own, and no others",
        ))
    };
    let tags: Result<Vec<u32>, CdrError> = protocols.preferred.iter().map(tag_of).collect();
    let mut tags = tags?;
    tags.dedup();
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_length(tags.len())?;
        for tag in tags {
            out.put_u32(tag);
            put_properties(tag, set, out);
        }
        Ok(())
    })
}

fn put_properties(tag: u32, set: &[Policy], out: &mut Encoder<'_>) {
    let link = if tag == TAO_UIOP { "uiop" } else { "iiop" };
    let value = |name: &str| published_properties::value(set, link, name);
    if matches!(tag, INTERNET_IOP | TAO_UIOP) {
        for name in ["send_buffer", "receive_buffer"] {
            out.put_i32(value(name).and_then(|size| size.parse().ok()).unwrap_or(0));
        }
    }
    if tag == INTERNET_IOP {
        for (name, default) in SWITCHES {
            let switch = value(name).and_then(|switch| switch.parse().ok());
            out.put_bool(switch.unwrap_or(default));
        }
    }
}

/// Switches of TCP in their order, with what connections have that nothing is said of.
const SWITCHES: [(&str, bool); 3] = [
    ("keep_alive", true),
    ("dont_route", false),
    ("no_delay", true),
];

/// Reads the protocols up to the first one whose properties have an unknown encoding. Other
/// protocols of the reference come after them in the order of preference.
pub(super) fn read(data: &[u8]) -> Result<Vec<Policy>, CdrError> {
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    let mut preferred: Vec<String> = Vec::new();
    let mut properties = Vec::new();
    for _ in 0..input.get_length(4)? {
        let tag = input.get_u32()?;
        let mut names = TAGGED.iter().filter(|(_, known)| *known == tag);
        let is_again = names.any(|(name, _)| preferred.iter().any(|one| one == name));
        if !is_again {
            let names = TAGGED.iter().filter(|(_, known)| *known == tag);
            preferred.extend(names.map(|(name, _)| (*name).to_owned()));
        }
        match get_properties(tag, &mut input)? {
            Some(own) if !is_again => properties.extend(own),
            Some(_) => {}
            None => break,
        }
    }
    let protocols = Policy::ClientProtocols(ClientProtocols {
        preferred,
        otherwise: Otherwise::Choose,
    });
    properties.insert(0, protocols);
    Ok(properties)
}

/// Reads the properties of a protocol that differ from those of connections that nothing is said of. Returns `None` if
/// their encoding is not known.
fn get_properties(tag: u32, input: &mut Decoder<'_>) -> Result<Option<Vec<Policy>>, CdrError> {
    let links: &[&str] = match tag {
        INTERNET_IOP => &["iiop", "ssliop"],
        TAO_UIOP => &["uiop"],
        TAO_DIOP | TAO_SHMIOP | TAO_SCIOP => &[],
        _ => return Ok(None),
    };
    let mut properties = Vec::new();
    let mut add = |name: &str, value: &str| {
        let of_links = links.iter();
        let of_links = of_links.map(|link| Policy::link_property(link, name, value));
        properties.extend(of_links.filter(published_properties::is_applied));
    };
    if tag != TAO_DIOP {
        for name in ["send_buffer", "receive_buffer"] {
            let size = input.get_i32()?;
            // 0 is the operating system's own size.
            if size > 0 {
                add(name, &size.to_string());
            }
        }
    }
    if matches!(tag, INTERNET_IOP | TAO_SHMIOP | TAO_SCIOP) {
        for (name, default) in SWITCHES {
            let switch = input.get_bool()?;
            if switch != default {
                add(name, &switch.to_string());
            }
        }
    }
    if tag == TAO_SHMIOP {
        input.get_i32()?;
        input.get_string()?;
        input.get_string()?;
    }
    Ok(Some(properties))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocols(names: &[&str]) -> Policy {
        Policy::protocols(names, Otherwise::Choose)
    }

    /// Policy with TCP and shared memory, followed by local sockets, in TAO's encoding.
    #[rustfmt::skip]
    const OF_TAO: [u8; 80] = [
        1, 0, 0, 0, 3, 0, 0, 0,
        // TCP: 65536, 65536, keep_alive, no dont_route, no_delay.
        0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0,
        // Shared memory: the same, 16, and two names.
        2, 0x4f, 0x41, 0x54, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0,
        16, 0, 0, 0, 5, 0, 0, 0, b'm', b'm', b'a', b'p', 0, 0, 0, 0, 6, 0, 0, 0, b'l', b'o', b'c', b'k', b's', 0, 0, 0,
        0, 0x4f, 0x41, 0x54, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn what_tao_publishes_is_read() {
        let mut expected = vec![protocols(&["iiop", "ssliop", "uiop"])];
        for (name, value) in [("send_buffer", "65536"), ("receive_buffer", "65536")] {
            let of_link = |link| Policy::link_property(link, name, value);
            expected.extend(["iiop", "ssliop"].map(of_link));
        }
        assert_eq!(read(&OF_TAO).unwrap(), expected);
    }

    #[test]
    fn a_client_does_not_avoid_routers_because_tao_publishes_so() {
        let mut avoiding = OF_TAO;
        let dont_route = 21;
        assert_eq!((avoiding[dont_route - 1], avoiding[dont_route]), (1, 0));
        avoiding[dont_route] = 1;
        assert_eq!(read(&avoiding).unwrap(), read(&OF_TAO).unwrap());
    }

    #[test]
    fn properties_of_a_poa_are_in_taos_form_of_them() {
        let said = [
            ("iiop", "send_buffer", "10000"),
            ("iiop", "no_delay", "false"),
            ("uiop", "receive_buffer", "20000"),
            ("diop", "send_buffer", "30000"),
        ];
        let set = said.map(|(link, name, value)| Policy::link_property(link, name, value));
        let written = write(&protocols(&["iiop", "uiop"]), &set).unwrap();
        let expected = [
            protocols(&["iiop", "ssliop", "uiop"]),
            Policy::link_property("iiop", "send_buffer", 10_000),
            Policy::link_property("ssliop", "send_buffer", 10_000),
            Policy::link_property("iiop", "no_delay", false),
            Policy::link_property("ssliop", "no_delay", false),
            Policy::link_property("uiop", "receive_buffer", 20_000),
        ];
        assert_eq!(read(&written).unwrap(), expected);
    }

    #[test]
    fn what_is_published_is_read_again() {
        for (names, again) in [
            (&["uiop", "iiop"][..], &["uiop", "iiop", "ssliop"][..]),
            (
                &["ssliop", "iiop", "giop_oneway+diop"],
                &["iiop", "ssliop", "giop_oneway+diop"],
            ),
        ] {
            let written = write(&protocols(names), &[]).unwrap();
            assert_eq!(read(&written).unwrap(), [protocols(again)]);
        }
        // A protocol that is listed a thousand times counts once.
        let again = [
            [0; 4].as_slice(),
            &1000_u32.to_be_bytes(),
            &[0x54, 0x41, 0x4f, 4].repeat(1000),
        ]
        .concat();
        assert_eq!(read(&again).unwrap(), [protocols(&["giop_oneway+diop"])]);
        for unpublished in ["shmiop", "giop_lite+iiop"] {
            write(&protocols(&["iiop", unpublished]), &[]).unwrap_err();
        }
    }

    #[test]
    fn what_comes_behind_unknown_properties_is_left_out_and_what_is_cut_off_refused() {
        let unknown = [0, 0, 0, 0, 0, 0, 0, 2, 0x12, 0x34, 0x56, 0x78, 9, 9, 9, 9];
        assert_eq!(read(&unknown).unwrap(), [protocols(&[])]);
        for length in 0..80 {
            assert!(read(&OF_TAO[..length]).is_err(), "{length}");
        }
    }
}
