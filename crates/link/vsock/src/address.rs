//! Addresses: the number or the name of a machine, and a port.
//!
//! ```text
//! vsock://3:5000         the virtual machine with the context id 3
//! vsock://host:5000      2: the host, as its virtual machines see it
//! vsock://local:5000     1: this machine itself
//! vsock://any:5000       to listen at: from wherever connections come; so do vsock://:5000 and, at any port, vsock://
//! ```
//! Context ids and ports have 32 bits. Port 0, or none, is one that the kernel chooses.

use punctual_link::{Address, Cause, LinkError, Phase};
use punctual_sys::vsock::{CID_ANY, CID_HOST, CID_LOCAL, PORT_ANY, VsockAddress, local_cid};

/// Name of the link in addresses and options.
pub const NAME: &str = "vsock";

/// Names of context ids.
const NAMES: [(&str, u32); 3] = [("any", CID_ANY), ("local", CID_LOCAL), ("host", CID_HOST)];

const TO_LISTEN: &str =
    "a context id (a number, any, local or host) and a port of 32 bits: any:5000";
const TO_CONNECT: &str = "a context id (a number, local or host) and a port from 1 on: 3:5000";

/// Reads the address of an acceptor to be.
pub(crate) fn to_listen(address: &Address) -> Result<VsockAddress, LinkError> {
    let (cid, port) = split(address.place());
    let read = own(address).and_then(|()| {
        let port = match port {
            None | Some("0") => PORT_ANY,
            Some(port) => number(port)?,
        };
        let cid = if cid.is_empty() {
            CID_ANY
        } else {
            machine(cid)?
        };
        Some(VsockAddress { cid, port })
    });
    read.ok_or(bad(TO_LISTEN))
}

/// Reads the address of a peer.
pub(crate) fn to_connect(address: &Address) -> Result<VsockAddress, LinkError> {
    let (cid, port) = split(address.place());
    let read = own(address).and_then(|()| {
        let (cid, port) = (machine(cid)?, number(port?)?);
        let is_one = cid != CID_ANY && port != 0 && port != PORT_ANY;
        is_one.then_some(VsockAddress { cid, port })
    });
    read.ok_or(bad(TO_CONNECT))
}

/// Returns the address of a socket, in numbers: machines that a socket does not say become this one.
pub(crate) fn of(socket: VsockAddress) -> Address {
    let cid = match socket.cid {
        CID_ANY => local_cid().unwrap_or(CID_LOCAL),
        cid => cid,
    };
    Address::new(NAME, &format!("{cid}:{}", socket.port))
}

/// Returns the place of the same machine at a port of the kernel's choice.
pub(crate) fn elsewhere(place: &str) -> String {
    let (cid, _) = split(place);
    format!("{cid}:0")
}

/// Returns whether a connection with these ends stays in one machine.
pub(crate) fn are_one_machine(local: &Address, peer: &Address) -> bool {
    let cid = |address: &Address| machine(split(address.place()).0);
    match (cid(local), cid(peer)) {
        // What this machine's id is may not be known, and is written as CID_LOCAL then: the peer's decides.
        (Some(local), Some(peer)) => peer == CID_LOCAL || local == peer,
        _ => false,
    }
}

fn own(address: &Address) -> Option<()> {
    (address.link() == NAME).then_some(())
}

fn split(place: &str) -> (&str, Option<&str>) {
    match place.split_once(':') {
        Some((cid, port)) => (cid, Some(port)),
        None => (place, None),
    }
}

fn machine(text: &str) -> Option<u32> {
    let named = NAMES.iter().find(|(name, _)| *name == text);
    named.map_or_else(|| number(text), |(_, cid)| Some(*cid))
}

/// Reads a number; a sign is none, though `u32` takes one.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|octet| octet.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

fn bad(expected: &'static str) -> LinkError {
    LinkError {
        phase: Phase::Resolve,
        cause: Cause::BadAddress(expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &str) -> Address {
        Address::new(NAME, place)
    }

    #[test]
    fn machines_are_numbers_or_names_and_what_is_left_out_is_chosen() {
        let address = |cid, port| VsockAddress { cid, port };
        for (place, listened) in [
            ("", address(CID_ANY, PORT_ANY)),
            (":5000", address(CID_ANY, 5000)),
            ("any:5000", address(CID_ANY, 5000)),
            ("any", address(CID_ANY, PORT_ANY)),
            ("local:0", address(1, PORT_ANY)),
            ("host:7", address(2, 7)),
            ("3:4294967294", address(3, u32::MAX - 1)),
        ] {
            assert_eq!(to_listen(&at(place)).unwrap(), listened, "{place}");
        }
        assert_eq!(to_connect(&at("3:5000")).unwrap(), address(3, 5000));
        assert_eq!(to_connect(&at("local:5000")).unwrap(), address(1, 5000));
        assert_eq!(to_connect(&at("host:5000")).unwrap(), address(2, 5000));
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_form() {
        for place in [
            "guest:5",
            "3:",
            "3:+5",
            "-1:5",
            "3:5:6",
            "3:4294967296",
            "5000:x",
        ] {
            let error = to_listen(&at(place)).unwrap_err();
            assert!(matches!(error.cause, Cause::BadAddress(_)), "{place}");
            assert!(error.to_string().contains("any:5000"), "{error}");
        }
        for place in [
            "",
            "any:5",
            ":5",
            "3",
            "3:0",
            "3:4294967295",
            "4294967295:5",
        ] {
            let error = to_connect(&at(place)).unwrap_err();
            assert!(matches!(error.cause, Cause::BadAddress(_)), "{place}");
            assert!(error.to_string().contains("3:5000"), "{error}");
        }
        assert!(to_listen(&Address::new("iiop", "local:5")).is_err());
        assert!(to_connect(&Address::new("iiop", "local:5")).is_err());
    }

    #[test]
    fn another_endpoint_of_a_lane_is_no_more_open_than_the_first() {
        assert_eq!(elsewhere("local:5000"), "local:0");
        assert_eq!(elsewhere("local"), "local:0");
        assert_eq!(elsewhere(""), ":0");
        assert_eq!(elsewhere("3:70000"), "3:0");
    }

    #[test]
    fn a_connection_stays_in_one_machine_by_its_ids() {
        assert!(are_one_machine(&at("1:7"), &at("1:8")));
        assert!(are_one_machine(&at("3:7"), &at("1:8")));
        assert!(!are_one_machine(&at("1:7"), &at("3:8")));
        assert!(are_one_machine(&at("3:7"), &at("3:8")));
        assert!(!are_one_machine(&at("3:7"), &at("2:8")));
        assert!(!are_one_machine(&at("2:7"), &at("3:8")));
        assert!(!are_one_machine(&at("x"), &at("x")));
    }
}
