//! Options of the link, the properties that set them, and the connections made with them.

use crate::socket::{
    SPIN_PROPERTIES, SocketOptions, StreamConnection, TCP_PROPERTIES, tcp_options,
};
use crate::{Address, Connection, LinkError, Phase, Properties, SpinOptions};
use punctual_sys::tcp::{self, TcpOptions};
use std::io;
use std::net::TcpStream;
use std::sync::Arc;

/// Options of the TCP link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IiopOptions {
    /// Socket options of each connection.
    pub tcp: TcpOptions,
    /// Upper bound of the connections that wait to be accepted. Default 1,024; the kernel caps it
    /// at `net.core.somaxconn`.
    pub backlog: u16,
    /// Initial size of a lent block, in bytes. Default 4,096: larger messages make it grow.
    pub block: usize,
    /// Size in bytes beyond which blocks are kept only while messages need such, two a thread and
    /// 32 MiB in the process at most; with 0 none is kept. Default 256 KiB.
    pub block_kept: usize,
    /// Settings for spinning before a receive blocks. Properties `spin_us` and `spin_always`.
    pub spin: SpinOptions,
    /// Inherited socket to listen at (systemd's socket activation), counted from 0; the address's
    /// host is published, and its port is the socket's. Property `inherited`. Default none.
    pub inherited: Option<u8>,
    /// Processor by which the kernel chooses among endpoints with one address: the one whose number is here takes the
    /// connections whose packets that processor receives (`SO_INCOMING_CPU`; the address is shared, `SO_REUSEPORT`). With it
    /// each lane reads on the processor that the network device interrupts. Property `incoming_cpu`. Default none.
    pub incoming_cpu: Option<u32>,
}

impl Default for IiopOptions {
    fn default() -> Self {
        Self {
            tcp: TcpOptions::default(),
            backlog: 1024,
            block: 4096,
            block_kept: 256 * 1024,
            spin: SpinOptions::default(),
            inherited: None,
            incoming_cpu: None,
        }
    }
}

/// Properties that an endpoint or a policy may set beside those of TCP.
const KNOWN: [&str; 3] = ["dont_route", SPIN_PROPERTIES[0], SPIN_PROPERTIES[1]];

/// Names of properties that only endpoints have.
const INHERITED: &str = "inherited";
const INCOMING_CPU: &str = "incoming_cpu";

/// Returns the names of the properties of connections or of acceptors.
pub(super) fn known(phase: Phase) -> Vec<&'static str> {
    let mut known = [&TCP_PROPERTIES[..], &KNOWN].concat();
    if phase == Phase::Listen {
        known.extend([INHERITED, INCOMING_CPU]);
    }
    known
}

impl IiopOptions {
    /// Returns these options, of which the given properties of an endpoint or a policy replace some.
    pub(super) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = *self;
        if properties.is_empty() {
            return Ok(options);
        }
        let expected = match phase {
            Phase::Listen => {
                "no_delay, keep_alive, dont_route, send_buffer, receive_buffer, dscp, pacing_rate, \
                 socket_priority, busy_poll_us, spin_us, spin_always, inherited or incoming_cpu"
            }
            _ => {
                "no_delay, keep_alive, dont_route, send_buffer, receive_buffer, dscp, pacing_rate, \
                 socket_priority, busy_poll_us, spin_us or spin_always"
            }
        };
        properties.only(&known(phase), expected, phase)?;
        options.tcp = tcp_options(options.tcp, properties, phase)?;
        let dont_route = properties.parse("dont_route", "true or false", phase)?;
        options.tcp.dont_route = dont_route.unwrap_or(options.tcp.dont_route);
        options.spin = options.spin.with(properties, phase)?;
        let number = properties.parse(INHERITED, "the number of a socket, from 0 on", phase)?;
        options.inherited = number.or(options.inherited);
        let processor =
            properties.parse(INCOMING_CPU, "the number of a processor, from 0 on", phase)?;
        options.incoming_cpu = processor.or(options.incoming_cpu);
        Ok(options)
    }

    /// Makes a connection over a connected socket, and sets these options on it.
    pub(super) fn connection(
        &self,
        stream: TcpStream,
        peer: Address,
    ) -> io::Result<Arc<dyn Connection>> {
        self.tcp.apply(&stream)?;
        let local = stream.local_addr()?;
        let local = Address::iiop(&local.ip().to_canonical().to_string(), local.port());
        let options = SocketOptions {
            block: self.block,
            block_kept: self.block_kept,
            dont_route: self.tcp.dont_route,
            spin: self.spin,
            // Without `no_delay` the kernel itself combines messages while it waits for
            // acknowledgements.
            gathers: self.tcp.no_delay,
            begins_ahead: self.tcp.no_delay && tcp::is_paced(&stream),
            class: self.tcp.traffic.socket_priority,
        };
        let connection = StreamConnection::new(stream.into(), peer, local, options);
        Ok(Arc::new(connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use punctual_sys::dscp::Dscp;
    use punctual_sys::tcp::KeepAlive;
    use std::time::Duration;

    fn with(pairs: &[(&str, &str)]) -> Result<TcpOptions, LinkError> {
        let properties = pairs.iter().copied().collect();
        let options = IiopOptions::default().with(&properties, Phase::Connect)?;
        Ok(options.tcp)
    }

    #[test]
    fn no_properties_leave_every_option_as_it_was() {
        let options = IiopOptions::default();
        let same = options.with(&Properties::NONE, Phase::Listen).unwrap();
        assert_eq!(same, options);
    }

    #[test]
    fn each_property_sets_its_option_and_no_other() {
        let given = TcpOptions::default();
        let expect = |pair, tcp: TcpOptions| assert_eq!(with(&[pair]).unwrap(), tcp);
        let (mut routed, mut delayed, mut quiet) = (given, given, given);
        let (mut sending, mut receiving, mut marked) = (given, given, given);
        marked.dscp = Some(Dscp::EF);
        routed.dont_route = true;
        delayed.no_delay = false;
        quiet.keep_alive = None;
        sending.send_buffer = Some(70_000);
        receiving.receive_buffer = Some(80_000);
        expect(("dont_route", "true"), routed);
        expect(("no_delay", "false"), delayed);
        expect(("keep_alive", "false"), quiet);
        expect(("keep_alive", "true"), given);
        expect(("send_buffer", "70000"), sending);
        expect(("receive_buffer", "80000"), receiving);
        expect(("dscp", "EF"), marked);
        expect(("dscp", "46"), marked);
        let refused = with(&[("dscp", "64")]).unwrap_err().to_string();
        assert!(
            refused.contains("dscp=64") && refused.contains("0 to 63"),
            "{refused}"
        );
    }

    #[test]
    fn how_long_to_look_before_blocking_is_a_property() {
        let given = IiopOptions::default();
        assert_eq!(given.spin.budget, Duration::from_micros(50));
        let none = Properties::from_iter([("spin_us", "0")]);
        let none = given.with(&none, Phase::Connect).unwrap();
        assert!(none.spin.spin().is_none());
        let properties = Properties::from_iter([("spin_us", "30"), ("spin_always", "true")]);
        let spin = given.with(&properties, Phase::Connect).unwrap().spin;
        assert_eq!(spin.budget, Duration::from_micros(30));
        assert!(spin.always && spin.spin().is_some());
    }

    #[test]
    fn keep_alive_turned_on_takes_its_default_where_there_was_none() {
        let mut options = IiopOptions::default();
        options.tcp.keep_alive = None;
        let on = Properties::from_iter([("keep_alive", "true")]);
        let options = options.with(&on, Phase::Connect).unwrap();
        assert_eq!(options.tcp.keep_alive, Some(KeepAlive::default()));
    }

    #[test]
    fn what_is_no_property_or_no_value_is_named() {
        for pair in [
            ("no_delay", "yes"),
            ("dont_route", "1"),
            ("keep_alive", ""),
            ("send_buffer", "-1"),
            ("receive_buffer", "many"),
            ("spin_us", "-1"),
            ("spin_always", "maybe"),
            ("nodelay", "true"),
        ] {
            let error = with(&[pair]).unwrap_err();
            assert_eq!(error.phase, Phase::Connect);
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
            assert!(error.to_string().contains(pair.0), "{error}");
        }
    }
}
