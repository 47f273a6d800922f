//! Errors of the operating system, in words that say what is to be done.

use punctual_link::{LinkError, Phase};
use punctual_sys::vsock::{CID_LOCAL, VsockAddress};
use std::io::{self, ErrorKind};

// Numbers of Linux, for errors that have no kind of their own.
const ENODEV: i32 = 19;
const EAFNOSUPPORT: i32 = 97;

const NO_SOCKETS: &str = "no AF_VSOCK in this kernel: `modprobe vsock_loopback` adds it for processes of this machine, \
                          `modprobe vmw_vsock_virtio_transport` in a virtual machine (which needs a vhost-vsock device), \
                          `modprobe vhost_vsock` on its host";
const NO_LOOPBACK: &str = "no loopback of AF_VSOCK in this kernel: `modprobe vsock_loopback`";
const NO_WAY: &str = "no device of AF_VSOCK leads to that machine: a virtual machine reaches its host alone (2), and a host \
                      those of its virtual machines that run with a vhost-vsock device";
const NOT_OURS: &str = "that context id is none of this machine: listen at any, or at local";
const NOBODY: &str = "connection refused: nothing listens at that port";
const LOW_PORT: &str = "ports below 1024 need CAP_NET_BIND_SERVICE";

/// Returns the error of listening or connecting at an address.
pub(crate) fn at(address: VsockAddress, phase: Phase, error: io::Error) -> LinkError {
    let said = match (phase, error.raw_os_error(), error.kind()) {
        (_, Some(EAFNOSUPPORT), _) => Some((ErrorKind::Unsupported, NO_SOCKETS)),
        (_, Some(ENODEV), _) | (_, _, ErrorKind::AddrNotAvailable) if address.cid == CID_LOCAL => {
            Some((ErrorKind::Unsupported, NO_LOOPBACK))
        }
        (Phase::Connect, Some(ENODEV), _) => Some((ErrorKind::HostUnreachable, NO_WAY)),
        // A virtual machine, and the loopback, refuse by a reset.
        (Phase::Connect, _, ErrorKind::ConnectionReset) => {
            Some((ErrorKind::ConnectionRefused, NOBODY))
        }
        (Phase::Listen, _, ErrorKind::AddrNotAvailable) => {
            Some((ErrorKind::AddrNotAvailable, NOT_OURS))
        }
        (Phase::Listen, _, ErrorKind::PermissionDenied) => {
            Some((ErrorKind::PermissionDenied, LOW_PORT))
        }
        _ => None,
    };
    let error = said.map_or(error, |(kind, text)| io::Error::new(kind, text));
    LinkError::os(phase, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_lacks_is_said_with_the_module_that_has_it() {
        let say = |cid, phase, number| {
            let address = VsockAddress { cid, port: 5 };
            at(address, phase, io::Error::from_raw_os_error(number)).to_string()
        };
        let none = say(3, Phase::Listen, EAFNOSUPPORT);
        assert!(
            none.starts_with("listening: no AF_VSOCK in this kernel: `modprobe vsock_loopback`")
        );
        for (phase, number) in [
            (Phase::Connect, ENODEV),
            (Phase::Connect, 99),
            (Phase::Listen, 99),
        ] {
            let none = say(1, phase, number);
            assert!(
                none.contains("no loopback of AF_VSOCK in this kernel: `modprobe vsock_loopback`"),
                "{none}"
            );
        }
        assert!(say(3, Phase::Connect, ENODEV).contains("no device"));
        assert!(say(3, Phase::Connect, 104).contains("nothing listens"));
        assert!(say(3, Phase::Listen, 99).contains("none of this machine"));
        assert!(say(3, Phase::Listen, 13).contains("CAP_NET_BIND_SERVICE"));
        // Others speak for themselves.
        assert!(say(3, Phase::Connect, 110).contains("os error 110"));
    }
}
