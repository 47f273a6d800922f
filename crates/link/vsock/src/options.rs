//! Options of the link, and the properties that set them.

use punctual_link::{
    Cause, LinkError, Phase, Properties, SPIN_PROPERTIES, SocketOptions, SpinOptions,
};

/// Least size of a receive buffer, in bytes (`VSOCK_DEFAULT_BUFFER_MIN_SIZE`).
const LEAST_BUFFER: u64 = 128;
/// Largest size of a receive buffer, in bytes: the kernel counts them in 32 bits.
const LARGEST_BUFFER: u64 = u32::MAX as u64;

/// Options of the link over `AF_VSOCK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VsockOptions {
    /// Size of a connection's receive buffer in bytes, from 128 to 4 GiB less one (`SO_VM_SOCKETS_BUFFER_SIZE`): so much a peer
    /// may send before this side reads. Default `None`, which leaves it to the kernel: 256 KiB. Property `receive_buffer`.
    pub receive_buffer: Option<u64>,
    /// Upper bound of the connections that wait to be accepted. Default 1,024; the kernel caps it at `net.core.somaxconn`.
    pub backlog: u16,
    /// Blocks that are lent, and spinning before a receive blocks: properties `spin_us` and `spin_always`. What only TCP has is
    /// of no effect.
    pub socket: SocketOptions,
}

impl Default for VsockOptions {
    fn default() -> Self {
        Self {
            receive_buffer: None,
            backlog: 1024,
            socket: SocketOptions::default(),
        }
    }
}

impl VsockOptions {
    pub(crate) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let [budget, always] = SPIN_PROPERTIES;
        let known = ["receive_buffer", budget, always];
        properties.only(&known, "receive_buffer, spin_us or spin_always", phase)?;
        let size = "a number of bytes from 128 to 4294967295";
        let given = properties.parse::<u64>("receive_buffer", size, phase)?;
        if let Some(given) = given.filter(|one| !(LEAST_BUFFER..=LARGEST_BUFFER).contains(one)) {
            let cause = Cause::BadProperty {
                property: format!("receive_buffer={given}").into(),
                expected: size,
            };
            return Err(LinkError { phase, cause });
        }
        let spin: SpinOptions = self.socket.spin.with(properties, phase)?;
        Ok(Self {
            receive_buffer: given.or(self.receive_buffer),
            backlog: self.backlog,
            socket: SocketOptions {
                spin,
                dont_route: false,
                gathers: false,
                begins_ahead: false,
                ..self.socket
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn with(pair: (&str, &str)) -> Result<VsockOptions, LinkError> {
        let properties = Properties::from_iter([pair]);
        VsockOptions::default().with(&properties, Phase::Listen)
    }

    #[test]
    fn each_property_sets_its_option() {
        let given = VsockOptions::default();
        assert_eq!(given.with(&Properties::NONE, Phase::Listen).unwrap(), given);
        let large = with(("receive_buffer", "1048576")).unwrap();
        assert_eq!(large.receive_buffer, Some(1 << 20));
        let spins = with(("spin_us", "7")).unwrap();
        assert_eq!(spins.socket.spin.budget, Duration::from_micros(7));
        assert!(with(("spin_always", "true")).unwrap().socket.spin.always);
    }

    #[test]
    fn what_is_no_property_or_no_value_is_named() {
        for (name, value) in [
            ("receive_buffer", "127"),
            ("receive_buffer", "4294967296"),
            ("receive_buffer", "large"),
            ("spin_us", "-1"),
            ("no_delay", "true"),
        ] {
            let error = with((name, value)).unwrap_err();
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
            assert!(
                error.to_string().contains(&format!("{name}={value}")),
                "{error}"
            );
        }
    }
}
