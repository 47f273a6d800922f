//! Link inside one process, for tests that must be deterministic.
//!
//! Each [`Inproc`] is a network of its own, shared by its clones, on which an acceptor listens at
//! any name. The test decides the fate of the data: its latency ([`Inproc::set_latency`]), whether
//! it is held up for a while ([`Inproc::cut`], [`Inproc::heal`]), whether a connection breaks
//! ([`Inproc::break_off`]). With a [`SimulatedClock`] data arrives only when the test advances the
//! time. Deadlines stay real: they bound the wait of a thread, not the arrival of data.
//!
//! Both directions of a connection are pipes of bounded size. No descriptor, no thread, no global.

mod acceptor;
mod address;
mod clock;
mod connection;
mod network;
mod pipe;
mod queue;

pub use address::NAME;
pub use clock::SimulatedClock;

use crate::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Places, Properties,
};
use address::{bad_address, checked};
use clock::Clock;
use network::Network;
use punctual_exec::Deadline;
use std::sync::Arc;
use std::time::Duration;

/// Link over a simulated network inside the process.
#[derive(Clone, Debug)]
pub struct Inproc {
    network: Arc<Network>,
}

impl Default for Inproc {
    fn default() -> Self {
        Self::new()
    }
}

impl Inproc {
    /// Makes a new in-process network without latency.
    #[must_use]
    pub fn new() -> Self {
        Self {
            network: Arc::new(Network::new(Clock::real())),
        }
    }

    /// Makes a new network on which time passes only as `clock` is advanced.
    #[must_use]
    pub fn with_clock(clock: &SimulatedClock) -> Self {
        let network = Arc::new(Network::new(Clock::Simulated(clock.clone())));
        clock.register_network(network.clone());
        Self { network }
    }

    /// Sets the latency of data sent from now on. Default zero.
    pub fn set_latency(&self, latency: Duration) {
        self.network.set_latency(latency);
    }

    /// Cuts all connections at `address`, an acceptor's or a client's, and returns their number:
    /// data, and the news of an end, arrive only after [`Inproc::heal`]. Connecting there waits as
    /// long.
    pub fn cut(&self, address: &Address) -> usize {
        self.network.set_cut(address.place(), true)
    }

    /// Reverts [`Inproc::cut`]: data that was held up arrives.
    pub fn heal(&self, address: &Address) -> usize {
        self.network.set_cut(address.place(), false)
    }

    /// Breaks all connections at `address`, an acceptor's or a client's, and returns their number:
    /// data under way is lost, and both ends see a connection reset.
    pub fn break_off(&self, address: &Address) -> usize {
        self.network.break_off(address.place())
    }
}

impl Link for Inproc {
    fn name(&self) -> &str {
        NAME
    }

    fn is_local(&self) -> bool {
        true
    }

    fn places(&self) -> Places {
        Places::Own
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        no_properties(properties, Phase::Connect)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        no_properties(properties, Phase::Connect)?;
        let place = checked(address, Phase::Connect)?;
        if place.is_empty() {
            return Err(bad_address(Phase::Connect));
        }
        self.network.connect(place, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        no_properties(properties, Phase::Listen)?;
        let place = checked(address, Phase::Listen)?;
        acceptor::listen(&self.network, place)
    }
}

fn no_properties(properties: &Properties, phase: Phase) -> Result<(), LinkError> {
    properties.only(&[], "none, for this link has no properties", phase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Pending};
    use std::io::IoSlice;

    const HOUR: Duration = Duration::from_secs(3600);

    struct Simulation {
        clock: SimulatedClock,
        link: Inproc,
        acceptor: Box<dyn Acceptor>,
        client: Arc<dyn Connection>,
        server: Arc<dyn Connection>,
    }

    impl Simulation {
        fn new(latency: Duration) -> Self {
            let clock = SimulatedClock::new();
            let link = Inproc::with_clock(&clock);
            link.set_latency(latency);
            let place = Address::new(NAME, "here");
            let acceptor = link.listen(&place, &Properties::NONE).unwrap();
            let client = link
                .connect(&place, &Properties::NONE, Deadline::NEVER)
                .unwrap();
            let server = acceptor.accept().unwrap();
            Self {
                clock,
                link,
                acceptor,
                client,
                server,
            }
        }

        fn say(&self, words: &[u8]) {
            self.client
                .send(&[IoSlice::new(words)], Deadline::NEVER)
                .unwrap();
        }

        fn hear(&self) -> Result<Vec<u8>, Cause> {
            let mut block = self.server.lend(0);
            let heard = self
                .server
                .receive(&mut block, 100, Deadline::after(Duration::ZERO));
            heard.map(|_| block.to_vec()).map_err(|error| error.cause)
        }
    }

    #[test]
    fn nothing_arrives_before_its_time_and_all_of_it_then() {
        let simulation = Simulation::new(HOUR);
        simulation.say(b"first");
        simulation.clock.advance(HOUR / 2);
        simulation.say(b"second");
        assert_eq!(simulation.server.pending(), Pending::Nothing);
        assert!(matches!(simulation.hear(), Err(Cause::TimedOut)));
        simulation.clock.advance(HOUR / 2);
        assert_eq!(simulation.hear().unwrap(), b"first");
        assert_eq!(simulation.server.pending(), Pending::Nothing);
        simulation.clock.advance(HOUR / 2);
        assert_eq!(simulation.hear().unwrap(), b"second");
        assert_eq!(simulation.clock.now(), HOUR + HOUR / 2);
    }

    #[test]
    fn advancing_wakes_whoever_receives() {
        let simulation = Simulation::new(HOUR);
        let server = simulation.server.clone();
        let thread = std::thread::spawn(move || {
            let mut block = server.lend(0);
            server.receive(&mut block, 1, Deadline::NEVER).map(drop)
        });
        simulation.say(b"x");
        simulation.clock.advance(HOUR);
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn news_of_the_end_takes_its_time_too() {
        let simulation = Simulation::new(HOUR);
        simulation.say(b"farewell");
        simulation.client.close();
        assert!(matches!(simulation.hear(), Err(Cause::TimedOut)));
        simulation.clock.advance(HOUR);
        assert_eq!(simulation.hear().unwrap(), b"farewell");
        assert!(matches!(simulation.hear(), Err(Cause::Closed)));
    }

    #[test]
    fn what_is_sent_into_a_cut_arrives_when_it_is_healed() {
        let simulation = Simulation::new(Duration::ZERO);
        let address = simulation.acceptor.address();
        assert_eq!(simulation.link.cut(address), 1);
        simulation.say(b"held up");
        assert_eq!(simulation.server.pending(), Pending::Nothing);
        let soon = Deadline::after(Duration::from_millis(5));
        let late = simulation.link.connect(address, &Properties::NONE, soon);
        assert!(matches!(late.unwrap_err().cause, Cause::TimedOut));
        assert_eq!(simulation.link.heal(address), 1);
        assert_eq!(simulation.hear().unwrap(), b"held up");
    }

    #[test]
    fn a_broken_connection_is_reset_at_both_ends_and_others_are_not() {
        let simulation = Simulation::new(Duration::ZERO);
        let other = simulation
            .link
            .connect(
                simulation.acceptor.address(),
                &Properties::NONE,
                Deadline::NEVER,
            )
            .unwrap();
        simulation.say(b"lost");
        assert_eq!(simulation.link.break_off(simulation.client.local()), 1);
        assert!(matches!(simulation.hear(), Err(Cause::Os(_))));
        let sent = simulation
            .client
            .send(&[IoSlice::new(b"x")], Deadline::NEVER);
        assert!(matches!(sent.unwrap_err().error.cause, Cause::Os(_)));
        assert_eq!(other.pending(), Pending::Nothing);
        other.send(&[IoSlice::new(b"x")], Deadline::NEVER).unwrap();
    }

    #[test]
    fn two_networks_know_nothing_of_each_other() {
        let place = Address::new(NAME, "here");
        let (one, other) = (Inproc::new(), Inproc::new());
        let _acceptor = one.listen(&place, &Properties::NONE).unwrap();
        assert!(
            other
                .connect(&place, &Properties::NONE, Deadline::NEVER)
                .is_err()
        );
        assert!(other.listen(&place, &Properties::NONE).is_ok());
    }

    #[test]
    fn a_place_left_open_is_chosen_and_one_without_a_name_is_not_connected_to() {
        let link = Inproc::new();
        let open = Address::new(NAME, "");
        let (first, second) = (
            link.listen(&open, &Properties::NONE).unwrap(),
            link.listen(&open, &Properties::NONE).unwrap(),
        );
        assert_ne!(first.address(), second.address());
        let error = link
            .connect(&open, &Properties::NONE, Deadline::NEVER)
            .unwrap_err();
        assert!(matches!(error.cause, Cause::BadAddress(_)));
    }
}
