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
//! published. Properties are written as the operating system's defaults, and ignored when read: a
//! client decides itself on the options of its sockets.

use super::any_policy::Policy;
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

pub(super) fn write(policy: &Policy) -> Result<Vec<u8>, CdrError> {
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
            put_properties(tag, out);
        }
        Ok(())
    })
}

fn put_properties(tag: u32, out: &mut Encoder<'_>) {
    if matches!(tag, INTERNET_IOP | TAO_UIOP) {
        // Buffer sizes of the operating system.
        out.put_i32(0);
        out.put_i32(0);
    }
    if tag == INTERNET_IOP {
        let [keep_alive, dont_route, no_delay] = [true, false, true];
        for flag in [keep_alive, dont_route, no_delay] {
            out.put_bool(flag);
        }
    }
}

/// Reads the protocols up to the first one whose properties have an unknown encoding. Other
/// protocols of the reference come after them in the order of preference.
pub(super) fn read(data: &[u8]) -> Result<Policy, CdrError> {
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    let mut preferred: Vec<String> = Vec::new();
    for _ in 0..input.get_length(4)? {
        let tag = input.get_u32()?;
        for (name, known) in TAGGED {
            if known == tag && !preferred.iter().any(|one| one == name) {
                preferred.push(name.to_owned());
            }
        }
        if !skip_properties(tag, &mut input)? {
            break;
        }
    }
    Ok(Policy::ClientProtocols(ClientProtocols {
        preferred,
        otherwise: Otherwise::Choose,
    }))
}

/// Skips the properties of a protocol. Returns `false` if their encoding is not known.
fn skip_properties(tag: u32, input: &mut Decoder<'_>) -> Result<bool, CdrError> {
    if matches!(tag, INTERNET_IOP | TAO_SHMIOP | TAO_SCIOP | TAO_UIOP) {
        input.get_i32()?;
        input.get_i32()?;
    }
    if matches!(tag, INTERNET_IOP | TAO_SHMIOP | TAO_SCIOP) {
        for _ in 0..3 {
            input.get_bool()?;
        }
    }
    if tag == TAO_SHMIOP {
        input.get_i32()?;
        input.get_string()?;
        input.get_string()?;
    }
    Ok(matches!(
        tag,
        INTERNET_IOP | TAO_UIOP | TAO_DIOP | TAO_SHMIOP | TAO_SCIOP
    ))
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
        let read = read(&OF_TAO).unwrap();
        assert_eq!(read, protocols(&["iiop", "ssliop", "uiop"]));
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
            let written = write(&protocols(names)).unwrap();
            assert_eq!(read(&written).unwrap(), protocols(again));
        }
        // A protocol that is listed a thousand times counts once.
        let again = [
            [0; 4].as_slice(),
            &1000_u32.to_be_bytes(),
            &[0x54, 0x41, 0x4f, 4].repeat(1000),
        ]
        .concat();
        assert_eq!(read(&again).unwrap(), protocols(&["giop_oneway+diop"]));
        for unpublished in ["shmiop", "giop_lite+iiop"] {
            write(&protocols(&["iiop", unpublished])).unwrap_err();
        }
    }

    #[test]
    fn what_comes_behind_unknown_properties_is_left_out_and_what_is_cut_off_refused() {
        let unknown = [0, 0, 0, 0, 0, 0, 0, 2, 0x12, 0x34, 0x56, 0x78, 9, 9, 9, 9];
        assert_eq!(read(&unknown).unwrap(), protocols(&[]));
        for length in 0..80 {
            assert!(read(&OF_TAO[..length]).is_err(), "{length}");
        }
    }
}
