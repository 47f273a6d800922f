//! What all hosts of a simulation have in common.

use super::motion::Reckoning;
use crate::time::with_unit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// Size, rules and link of a simulation, the same for all its hosts.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct World {
    /// Number of hosts; entity N is simulated by host N modulo this.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(super) hosts: u32,
    /// Number of entities.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) entities: u32,
    /// Times a second at which a host looks whether states are to be published.
    #[arg(long, value_name = "HERTZ", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rate: u32,
    /// Error of others' extrapolation in metres above which a state is published.
    #[arg(long, value_name = "METRES", default_value_t = 1.0)]
    threshold: f64,
    /// Time after which a state is published all the same.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = with_unit)]
    heartbeat: Duration,
    /// Multicast group and port.
    #[arg(long, value_name = "ADDRESS", default_value = "239.255.77.3:10003")]
    group: SocketAddrV4,
    /// Interface of the group, by its address; by default the loopback interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST)]
    pub(super) interface: Ipv4Addr,
}

impl World {
    /// Returns the link of a host, as a setting names it.
    pub(super) fn link(&self) -> String {
        format!("udp://{}?interface={}", self.group, self.interface)
    }

    /// Returns the rules of dead reckoning.
    pub(super) fn reckoning(&self) -> Reckoning {
        Reckoning {
            threshold: self.threshold,
            heartbeat: self.heartbeat.as_secs_f64(),
        }
    }

    /// Returns the arguments of a host's process.
    pub(super) fn arguments(&self) -> Vec<String> {
        let heartbeat = format!("{}ms", self.heartbeat.as_millis());
        let all = [
            ("--hosts", self.hosts.to_string()),
            ("--entities", self.entities.to_string()),
            ("--rate", self.rate.to_string()),
            ("--threshold", self.threshold.to_string()),
            ("--heartbeat", heartbeat),
            ("--group", self.group.to_string()),
            ("--interface", self.interface.to_string()),
        ];
        let all = all.into_iter();
        all.flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }

    /// Returns the time between two ticks.
    pub(super) fn period(&self) -> Duration {
        Duration::from_secs(1) / self.rate.max(1)
    }
}
