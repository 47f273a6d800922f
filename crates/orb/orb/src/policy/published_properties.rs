//! Properties of links in references: what a server asks of the sockets that its clients open (Real-time CORBA 1.2,
//! §5.15: a ClientProtocolPolicy of a POA reaches clients with its protocol properties).
//!
//! TAO's ClientProtocolPolicy has room for the standard's properties alone (see `published_protocols`). A POA's
//! [`Policy::link_property`] is published as a policy of our own beside it, one for each property:
//!
//! ```text
//! { string link; string name; string value; }
//! ```
//! A client applies the properties of [`KNOWN`] with values that fit, unless it has set them itself, in its configuration or
//! by a policy. All else is ignored, in TAO's form as well: what a reference says does not make the client's kernel refuse a
//! connection or a send, does not slow calls below [`LEAST_PACE`], does not mark packets as the network's own control, and
//! takes no processor. `dont_route` is not among them: with it, no server behind a router can be reached.

use super::any_policy::Policy;
use super::values::LinkProperty;
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_sys::dscp::Dscp;
use std::num::NonZeroU32;

/// Class of packets above which a client would need CAP_NET_ADMIN.
const HIGHEST_CLASS: u8 = 6;

/// Least pace in bytes a second: with less, calls without a time-out would seem to stand still.
const LEAST_PACE: usize = 64 << 10;

/// DSCP from which on networks take packets for their own control (CS6, CS7; RFC 4594, §3.1).
const NETWORK_CONTROL: u8 = 48;

/// Least send buffer of `diop` in bytes: with less, the kernel refuses large datagrams, which take several packets.
const LEAST_DATAGRAM_BUFFER: u32 = 64 << 10;

/// Published properties: name, links that have it, and the check of a value.
const KNOWN: [Known; 8] = [
    ("dscp", &["iiop", "ssliop", "diop"], |value| {
        value
            .parse::<Dscp>()
            .is_ok_and(|dscp| dscp.get() < NETWORK_CONTROL)
    }),
    ("pacing_rate", &["iiop", "ssliop", "diop"], |value| {
        // The kernel's number is as large as an address.
        value.parse::<usize>().is_ok_and(|pace| pace >= LEAST_PACE)
    }),
    ("socket_priority", &["iiop", "ssliop", "diop"], |value| {
        value
            .parse::<u8>()
            .is_ok_and(|class| class <= HIGHEST_CLASS)
    }),
    ("no_delay", &["iiop", "ssliop"], is_switch),
    ("keep_alive", &["iiop", "ssliop"], is_switch),
    ("send_buffer", &["iiop", "ssliop", "uiop"], is_size),
    ("send_buffer", &["diop"], |value| {
        is_size(value)
            && value
                .parse::<u32>()
                .is_ok_and(|size| size >= LEAST_DATAGRAM_BUFFER)
    }),
    (
        "receive_buffer",
        &["iiop", "ssliop", "diop", "uiop"],
        is_size,
    ),
];

type Known = (&'static str, &'static [&'static str], fn(&str) -> bool);

fn is_switch(value: &str) -> bool {
    value.parse::<bool>().is_ok()
}

/// Sizes of buffers are `long` in the standard's properties.
fn is_size(value: &str) -> bool {
    value
        .parse::<NonZeroU32>()
        .is_ok_and(|size| i32::try_from(size.get()).is_ok())
}

/// Returns whether clients apply a property that a reference has.
fn is_known(property: &LinkProperty) -> bool {
    KNOWN.iter().any(|(name, links, fits)| {
        *name == property.name && links.contains(&&*property.link) && fits(&property.value)
    })
}

/// Returns whether clients apply this policy when a reference has it.
pub(super) fn is_applied(policy: &Policy) -> bool {
    matches!(policy, Policy::LinkProperty(property) if is_known(property))
}

pub(super) fn write(policy: &Policy, _: &[Policy]) -> Result<Vec<u8>, CdrError> {
    let Policy::LinkProperty(property) = policy else {
        return Err(CdrError::BadEncapsulation);
    };
    if !is_known(property) {
        return Err(CdrError::Invalid(
            "of properties, references carry dscp (below CS6), pacing_rate (65536 or more), socket_priority (0 to 6), \
             send_buffer (of diop 65536 or more) and receive_buffer of iiop, ssliop and diop, no_delay and keep_alive of \
             iiop and ssliop, and send_buffer and receive_buffer of uiop",
        ));
    }
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_string(&property.link)?;
        out.put_string(&property.name)?;
        out.put_string(&property.value)
    })
}

pub(super) fn read(data: &[u8]) -> Result<Vec<Policy>, CdrError> {
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    let property = LinkProperty {
        link: input.get_string()?.into_owned(),
        name: input.get_string()?.into_owned(),
        value: input.get_string()?.into_owned(),
    };
    let known = is_known(&property).then_some(Policy::LinkProperty(property));
    Ok(known.into_iter().collect())
}

/// Returns the value of a property of a link among an adapter's policies, if clients would apply it.
pub(super) fn value<'a>(set: &'a [Policy], link: &str, name: &str) -> Option<&'a str> {
    set.iter().find_map(|policy| match policy {
        Policy::LinkProperty(property) if property.link == link && property.name == name => {
            is_known(property).then_some(&*property.value)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_they_were_published() {
        for (link, name, value) in [
            ("iiop", "dscp", "EF"),
            ("iiop", "dscp", "CS5"),
            ("iiop", "dscp", "47"),
            ("diop", "pacing_rate", "20000000"),
            ("iiop", "pacing_rate", "65536"),
            ("ssliop", "socket_priority", "6"),
            ("diop", "send_buffer", "65536"),
            ("iiop", "send_buffer", "1"),
            ("uiop", "send_buffer", "65536"),
        ] {
            let policy = Policy::link_property(link, name, value);
            let written = write(&policy, &[]).unwrap();
            assert_eq!(read(&written).unwrap(), [policy]);
            for length in 0..written.len() {
                assert!(read(&written[..length]).is_err(), "{length}");
            }
        }
    }

    #[test]
    fn what_clients_would_not_apply_is_not_published_and_ignored_when_read() {
        for (link, name, value) in [
            ("iiop", "dscp", "fast"),
            ("iiop", "dscp", "CS6"),
            ("ssliop", "dscp", "CS7"),
            ("diop", "dscp", "48"),
            ("iiop", "dscp", "63"),
            ("iiop", "dont_route", "true"),
            ("iiop", "dont_route", "false"),
            ("iiop", "pacing_rate", "0"),
            ("iiop", "pacing_rate", "1"),
            ("diop", "pacing_rate", "65535"),
            ("iiop", "pacing_rate", "18446744073709551616"),
            ("diop", "send_buffer", "65535"),
            ("iiop", "socket_priority", "7"),
            ("iiop", "busy_poll_us", "50"),
            ("iiop", "spin_us", "50"),
            ("iiop", "send_buffer", "0"),
            ("iiop", "send_buffer", "2147483648"),
            ("ssliop", "server_name", "other"),
            ("shmiop", "trust", "always"),
            ("uiop", "dscp", "EF"),
            ("diop", "launch_period_us", "1000"),
        ] {
            let policy = Policy::link_property(link, name, value);
            write(&policy, &[]).unwrap_err();
            let written = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
                out.put_string(link)?;
                out.put_string(name)?;
                out.put_string(value)
            });
            assert_eq!(read(&written.unwrap()).unwrap(), []);
        }
    }
}
