//! Properties that set options of sockets, for the links over TCP and UDP.

use crate::{LinkError, Phase, Properties};
use punctual_sys::tcp::TcpOptions;
use punctual_sys::traffic::Traffic;
use std::num::NonZeroU64;
use std::time::Duration;

/// Names of the properties that [`tcp_options`] reads.
pub const TCP_PROPERTIES: [&str; 8] = [
    "no_delay",
    "keep_alive",
    "send_buffer",
    "receive_buffer",
    "dscp",
    TRAFFIC_PROPERTIES[0],
    TRAFFIC_PROPERTIES[1],
    TRAFFIC_PROPERTIES[2],
];

/// Names of the properties that [`traffic`] reads.
pub(crate) const TRAFFIC_PROPERTIES: [&str; 3] = ["pacing_rate", "socket_priority", "busy_poll_us"];

/// Returns the options of which the given properties of an endpoint or a policy replace some.
///
/// # Errors
/// [`crate::Cause::BadProperty`] for a value that does not fit.
pub fn tcp_options(
    tcp: TcpOptions,
    properties: &Properties,
    phase: Phase,
) -> Result<TcpOptions, LinkError> {
    let mut tcp = tcp;
    let switch = |key| properties.parse::<bool>(key, "true or false", phase);
    let size = |key| buffer_size(key, properties, phase);
    tcp.no_delay = switch("no_delay")?.unwrap_or(tcp.no_delay);
    match switch("keep_alive")? {
        Some(true) => tcp.keep_alive = Some(tcp.keep_alive.unwrap_or_default()),
        Some(false) => tcp.keep_alive = None,
        None => {}
    }
    tcp.send_buffer = size("send_buffer")?.or(tcp.send_buffer);
    tcp.receive_buffer = size("receive_buffer")?.or(tcp.receive_buffer);
    tcp.dscp = properties.dscp(phase)?.or(tcp.dscp);
    tcp.traffic = traffic(tcp.traffic, properties, phase)?;
    Ok(tcp)
}

/// Returns the size of a socket's buffer that a property sets. The kernel counts such sizes by numbers of 31 bits.
pub(crate) fn buffer_size(
    key: &'static str,
    properties: &Properties,
    phase: Phase,
) -> Result<Option<usize>, LinkError> {
    let size = properties.parse::<UpTo31Bits>(key, "0 to 2147483647 octets", phase)?;
    Ok(size.and_then(|size| usize::try_from(size.0).ok()))
}

/// Returns the traffic options of which the given properties replace some.
pub(crate) fn traffic(
    traffic: Traffic,
    properties: &Properties,
    phase: Phase,
) -> Result<Traffic, LinkError> {
    let rate =
        properties.parse::<NonZeroU64>("pacing_rate", "octets a second, 1 or more", phase)?;
    let priority = properties.parse::<Priority>("socket_priority", "0 to 15", phase)?;
    let polls =
        properties.parse::<UpTo31Bits>("busy_poll_us", "0 to 2147483647 microseconds", phase)?;
    let polls = polls.map(|micros| Duration::from_micros(micros.0.into()));
    Ok(Traffic {
        pacing_rate: rate.or(traffic.pacing_rate),
        socket_priority: priority.map(|one| one.0).or(traffic.socket_priority),
        busy_poll: polls.or(traffic.busy_poll),
    })
}

/// Number that fits a `c_int` of the kernel's, and is not negative.
struct UpTo31Bits(u32);

impl std::str::FromStr for UpTo31Bits {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number: u32 = text.parse().map_err(drop)?;
        i32::try_from(number).map(|_| Self(number)).map_err(drop)
    }
}

/// Class of packets, 0 to 15.
struct Priority(u8);

impl std::str::FromStr for Priority {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.parse() {
            Ok(number @ 0..=15) => Ok(Self(number)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    fn with(pairs: &[(&str, &str)]) -> Result<TcpOptions, LinkError> {
        let properties = pairs.iter().copied().collect();
        tcp_options(TcpOptions::default(), &properties, Phase::Connect)
    }

    #[test]
    fn properties_of_traffic_set_their_options() {
        let tcp = with(&[
            ("pacing_rate", "1000000"),
            ("socket_priority", "5"),
            ("busy_poll_us", "50"),
        ]);
        let traffic = tcp.unwrap().traffic;
        assert_eq!(traffic.pacing_rate, NonZeroU64::new(1_000_000));
        assert_eq!(traffic.socket_priority, Some(5));
        assert_eq!(traffic.busy_poll, Some(Duration::from_micros(50)));
        assert_eq!(with(&[]).unwrap(), TcpOptions::default());
    }

    #[test]
    fn a_pace_of_nothing_and_a_class_that_is_none_are_refused() {
        for pair in [
            ("pacing_rate", "0"),
            ("pacing_rate", "fast"),
            ("socket_priority", "16"),
            ("socket_priority", "-1"),
            ("busy_poll_us", "-1"),
        ] {
            let error = with(&[pair]).unwrap_err();
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
            assert!(error.to_string().contains(pair.0), "{error}");
        }
    }
}
