//! Options of the link adapter `reliable`, and the properties that set them.

use crate::{Cause, Framing, Guarantees, LinkError, Phase, Properties};
use std::time::Duration;

/// Options of the adapter for reliable transmission over datagram links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliableOptions {
    /// Size of a datagram in bytes. Default 1,400, which passes Ethernet and most tunnels in one
    /// frame; at least 128, at most the largest of the link below. Property `datagram`.
    pub datagram: usize,
    /// Number of bytes that either side of a connection holds in each direction. Default 256 KiB,
    /// at least 1 KiB. Property `window`.
    pub window: usize,
    /// Number of tries before a silent peer is given up. Default 12, which takes about 7 s.
    pub tries: u32,
    /// Time of silence after which a peer is pinged. Default 5 s.
    pub keep_alive: Duration,
    /// Time for which a closed connection goes on delivering written data to its peer. Default 10
    /// s.
    pub linger: Duration,
    /// Upper bound of the connections that wait to be accepted. Default 128.
    pub backlog: usize,
}

impl Default for ReliableOptions {
    fn default() -> Self {
        Self {
            datagram: 1400,
            window: 256 * 1024,
            tries: 12,
            keep_alive: Duration::from_secs(5),
            linger: Duration::from_secs(10),
            backlog: 128,
        }
    }
}

/// Size of the smallest usable datagram and window, in bytes.
pub(super) const LEAST_DATAGRAM: usize = 128;
const LEAST_WINDOW: usize = 1024;

/// Names of the adapter's own properties.
pub(super) const OWN: [&str; 2] = ["datagram", "window"];

impl ReliableOptions {
    /// Returns the adapter's options overridden by `properties`, and the remaining properties,
    /// which are the link's below.
    pub(super) fn with(
        &self,
        properties: &Properties,
        below: Guarantees,
        phase: Phase,
    ) -> Result<(Self, Properties), LinkError> {
        if !fits(below) {
            let expected = "a link of datagrams, of 128 octets at least, below the adapter";
            let cause = Cause::BadAddress(expected);
            return Err(LinkError { phase, cause });
        }
        let mut options = *self;
        let size = |key| properties.parse::<usize>(key, "a number of octets", phase);
        let largest = below.largest.unwrap_or(usize::MAX);
        options.datagram = size("datagram")?
            .unwrap_or(options.datagram)
            .max(LEAST_DATAGRAM)
            .min(largest);
        options.window = size("window")?
            .unwrap_or(options.window)
            .clamp(LEAST_WINDOW, u32::MAX as usize);
        let rest = properties.iter().filter(|(key, _)| !OWN.contains(key));
        Ok((options, rest.collect()))
    }
}

/// Returns whether the adapter can work over a link.
pub(super) fn fits(below: Guarantees) -> bool {
    let roomy = below.largest.is_none_or(|most| most >= LEAST_DATAGRAM);
    below.framing == Framing::Datagram && roomy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below() -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: false,
            framing: Framing::Datagram,
            largest: Some(9000),
        }
    }

    #[test]
    fn it_reads_its_own_properties_and_leaves_the_rest_to_the_link_below() {
        let given =
            Properties::from_iter([("datagram", "500"), ("window", "5000"), ("peers", "3")]);
        let options = ReliableOptions::default();
        let (options, rest) = options.with(&given, below(), Phase::Listen).unwrap();
        assert_eq!((options.datagram, options.window), (500, 5000));
        assert_eq!(rest, Properties::from_iter([("peers", "3")]));
    }

    #[test]
    fn a_datagram_is_never_larger_than_the_link_below_carries() {
        let given = Properties::from_iter([("datagram", "60000"), ("window", "1")]);
        let options = ReliableOptions::default();
        let (options, _) = options.with(&given, below(), Phase::Connect).unwrap();
        assert_eq!((options.datagram, options.window), (9000, LEAST_WINDOW));
        let wrong = Properties::from_iter([("window", "wide")]);
        assert!(options.with(&wrong, below(), Phase::Connect).is_err());
    }
}
