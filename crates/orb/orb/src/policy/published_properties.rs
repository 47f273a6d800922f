//! Properties of links in references: what a server asks of the sockets that its clients open (Real-time CORBA 1.2,
//! §5.15: a ClientProtocolPolicy of a POA reaches clients with its protocol properties).
//!
//! TAO's ClientProtocolPolicy has room for the standard's properties alone (see `published_protocols`). A POA's
//! [`Policy::link_property`] is published as a policy of our own beside it, one for each property:
//!
//! ```text
//! { string link; string name; string value; }
//! ```
//! A client applies the properties of [`KNOWN`], unless it has set them itself, in its configuration or by a policy. All
//! else is ignored: nothing that a reference says makes a connection fail, or use up the client's processors.

use super::any_policy::Policy;
use super::values::LinkProperty;
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_sys::dscp::Dscp;
use std::num::{NonZeroU32, NonZeroU64};

/// Class of packets above which a client would need CAP_NET_ADMIN.
const HIGHEST_CLASS: u8 = 6;

/// Published properties: name, links that have it, and the check of a value.
const KNOWN: [Known; 8] = [
    ("dscp", &["iiop", "ssliop", "diop"], |value| {
        value.parse::<Dscp>().is_ok()
    }),
    ("pacing_rate", &["iiop", "ssliop", "diop"], |value| {
        value.parse::<NonZeroU64>().is_ok()
    }),
    ("socket_priority", &["iiop", "ssliop", "diop"], |value| {
        value
            .parse::<u8>()
            .is_ok_and(|class| class <= HIGHEST_CLASS)
    }),
    ("no_delay", &["iiop", "ssliop"], is_switch),
    ("keep_alive", &["iiop", "ssliop"], is_switch),
    ("dont_route", &["iiop"], is_switch),
    ("send_buffer", &["iiop", "ssliop", "diop", "uiop"], is_size),
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

fn is_known(property: &LinkProperty) -> bool {
    let known = KNOWN.iter().find(|(name, ..)| *name == property.name);
    known.is_some_and(|(_, links, fits)| links.contains(&&*property.link) && fits(&property.value))
}

pub(super) fn write(policy: &Policy, _: &[Policy]) -> Result<Vec<u8>, CdrError> {
    let Policy::LinkProperty(property) = policy else {
        return Err(CdrError::BadEncapsulation);
    };
    if !is_known(property) {
        return Err(CdrError::Invalid(
            "of properties, references carry dscp, pacing_rate, socket_priority (0 to 6), send_buffer and receive_buffer \
             of iiop, ssliop and diop, no_delay and keep_alive of iiop and ssliop, dont_route of iiop, and send_buffer and \
             receive_buffer of uiop",
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

/// Returns the value of a property of a link among an adapter's policies.
pub(super) fn value<'a>(set: &'a [Policy], link: &str, name: &str) -> Option<&'a str> {
    set.iter().find_map(|policy| match policy {
        Policy::LinkProperty(property) if property.link == link && property.name == name => {
            Some(&*property.value)
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
            ("diop", "pacing_rate", "20000000"),
            ("ssliop", "socket_priority", "6"),
            ("iiop", "dont_route", "true"),
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
            ("iiop", "pacing_rate", "0"),
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
