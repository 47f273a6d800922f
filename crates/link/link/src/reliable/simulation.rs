//! Simulation of two machines over a network that loses, repeats and reorders; time is simulated
//! too, so each run is the same.

use super::machine::{End, Machine};
use super::options::ReliableOptions;
use punctual_cdr::Block;
use std::collections::BTreeMap;
use std::time::Duration;

/// Average numbers of simulated faults of each kind in a thousand datagrams, and the seed of the
/// random choice.
#[derive(Clone, Copy, Default)]
struct Faults {
    lose: u64,
    repeat: u64,
    reorder: u64,
    seed: u64,
}

struct Network {
    machines: [Machine; 2],
    now: Duration,
    faults: Faults,
    chance: u64,
    /// Datagrams under way, by arrival and a number that keeps the order of sending.
    under_way: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    sent: u64,
    silent: [bool; 2],
}

const TRIP: Duration = Duration::from_micros(500);
const IDS: [u64; 2] = [11, 22];

impl Network {
    fn new(options: ReliableOptions, faults: Faults) -> Self {
        let window = u32::try_from(options.window).unwrap();
        let [one, other] = IDS;
        Self {
            machines: [
                Machine::new(one, other, window, options, Duration::ZERO),
                Machine::new(other, one, window, options, Duration::ZERO),
            ],
            now: Duration::ZERO,
            faults,
            chance: faults.seed,
            under_way: BTreeMap::new(),
            sent: 0,
            silent: [false; 2],
        }
    }

    fn strikes(&mut self, often: u64) -> bool {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) % 1000 < often
    }

    fn put(&mut self, from: usize, octets: &[u8]) {
        let late = self.strikes(self.faults.reorder);
        let arrival = self.now + if late { 5 * TRIP } else { TRIP };
        self.sent += 1;
        let key = (arrival, self.sent);
        self.under_way.insert(key, (1 - from, octets.to_vec()));
    }

    fn flush(&mut self) {
        let mut out = Vec::new();
        for from in [0, 1] {
            while self.machines[from].transmit(self.now, &mut out) {
                if self.silent[from] || self.strikes(self.faults.lose) {
                    continue;
                }
                self.put(from, &out);
                if self.strikes(self.faults.repeat) {
                    self.put(from, &out);
                }
            }
        }
    }

    /// Advances the simulated time to the next arrival or timer.
    fn step(&mut self) {
        self.flush();
        let arrival = self.under_way.first_key_value().map(|(key, _)| key.0);
        let alive = (self.machines.iter()).filter(|machine| !machine.is_over(self.now));
        let timers = alive.filter_map(Machine::timer);
        let next = timers.chain(arrival).min().unwrap();
        self.now = next.max(self.now);
        while let Some(entry) = self.under_way.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (to, octets) = entry.remove();
            self.machines[to].handle(&octets, self.now);
        }
        for machine in &mut self.machines {
            machine.tick(self.now);
        }
        self.flush();
    }

    fn read(&mut self, at: usize, into: &mut Vec<u8>) {
        let mut block = Block::default();
        self.machines[at].read(&mut block, usize::MAX, self.now);
        into.extend_from_slice(&block);
    }
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|index| u8::try_from((index * 7 + seed + index / 251) % 256).unwrap())
        .collect()
}

/// Sends in both directions at once, closes, and returns the duration.
fn transfer(options: ReliableOptions, faults: Faults, length: usize) -> Duration {
    let mut network = Network::new(options, faults);
    let texts = [pattern(length, 1), pattern(length, 2)];
    let mut written = [0, 0];
    let mut read = [Vec::new(), Vec::new()];
    let mut steps = 0;
    while read[0].len() < length || read[1].len() < length {
        for at in [0, 1] {
            written[at] += network.machines[at].write(&texts[at][written[at]..]);
            network.read(at, &mut read[at]);
        }
        network.step();
        steps += 1;
        assert!(steps < 1_000_000, "{written:?} were written");
        assert_eq!(network.machines[0].send_end(), None);
        assert_eq!(network.machines[1].send_end(), None);
    }
    assert!(read[0] == texts[1] && read[1] == texts[0]);
    let taken = network.now;
    network.machines[0].close(network.now);
    while network.machines[1].end().is_none() {
        network.step();
    }
    assert_eq!(network.machines[1].end(), Some(End::PeerClosed));
    network.machines[1].close(network.now);
    while !(network.machines.iter()).all(|machine| machine.is_over(network.now)) {
        network.step();
    }
    taken
}

#[test]
fn everything_arrives_in_order_over_a_network_without_faults() {
    transfer(ReliableOptions::default(), Faults::default(), 1 << 20);
}

#[test]
fn everything_arrives_in_order_whatever_the_network_does() {
    for seed in 0..40 {
        let faults = Faults {
            lose: 100 + 5 * (seed % 8),
            repeat: 50,
            reorder: 200,
            seed,
        };
        let options = ReliableOptions {
            tries: 40,
            ..ReliableOptions::default()
        };
        transfer(options, faults, 100_000);
    }
}

#[test]
fn a_network_that_loses_a_third_is_survived() {
    let faults = Faults {
        lose: 333,
        seed: 3,
        ..Faults::default()
    };
    let options = ReliableOptions {
        tries: 60,
        ..ReliableOptions::default()
    };
    transfer(options, faults, 50_000);
}

#[test]
fn small_windows_and_small_datagrams_only_take_longer() {
    let options = ReliableOptions {
        datagram: 128,
        window: 1024,
        ..ReliableOptions::default()
    };
    let small = transfer(options, Faults::default(), 100_000);
    let large = transfer(ReliableOptions::default(), Faults::default(), 100_000);
    assert!(small > large);
}

#[test]
fn a_reader_that_does_not_read_stops_the_sender_and_lets_it_go_on() {
    let options = ReliableOptions::default();
    let mut network = Network::new(options, Faults::default());
    let text = pattern(4 * options.window, 5);
    let mut written = 0;
    for _ in 0..5000 {
        written += network.machines[0].write(&text[written..]);
        network.step();
    }
    // The capacity of the reader's side and the writer's.
    assert_eq!(written, 2 * options.window);
    assert_eq!(network.machines[0].send_end(), None);
    let mut read = Vec::new();
    while read.len() < text.len() {
        network.read(1, &mut read);
        written += network.machines[0].write(&text[written..]);
        network.step();
    }
    assert!(read == text);
}

#[test]
fn a_peer_that_falls_silent_is_given_up_by_who_sends_and_by_who_waits() {
    for writes in [true, false] {
        let mut network = Network::new(ReliableOptions::default(), Faults::default());
        network.silent = [false, true];
        if writes {
            network.machines[0].write(b"anyone?");
        }
        while network.machines[0].end().is_none() {
            network.step();
        }
        assert_eq!(network.machines[0].end(), Some(End::Silent));
        assert!(network.now < Duration::from_secs(30), "{:?}", network.now);
    }
}

#[test]
fn a_quiet_connection_stays_open() {
    let mut network = Network::new(ReliableOptions::default(), Faults::default());
    while network.now < Duration::from_secs(3600) {
        network.step();
    }
    assert!(
        network
            .machines
            .iter()
            .all(|machine| machine.end().is_none())
    );
}

#[test]
fn what_was_written_before_the_end_arrives_though_much_is_lost() {
    for seed in 0..20 {
        let faults = Faults {
            lose: 300,
            seed,
            ..Faults::default()
        };
        let mut network = Network::new(ReliableOptions::default(), faults);
        network.machines[0].write(&pattern(10_000, 1));
        network.machines[0].close(network.now);
        let mut read = Vec::new();
        while network.machines[1].end().is_none() {
            network.step();
            network.read(1, &mut read);
        }
        assert_eq!(network.machines[1].end(), Some(End::PeerClosed));
        assert!(read == pattern(10_000, 1), "seed {seed}");
    }
}

#[test]
fn closing_on_a_peer_that_never_reads_ends_too() {
    let options = ReliableOptions::default();
    let mut network = Network::new(options, Faults::default());
    network.machines[0].write(&pattern(options.window, 1));
    network.step();
    while network.machines[1].readable() < options.window {
        network.step();
    }
    network.machines[0].write(b"too much");
    network.machines[0].close(network.now);
    while !network.machines[0].is_over(network.now) {
        network.step();
    }
    network.step();
    assert_eq!(network.machines[1].send_end(), Some(End::Reset));
    let mut read = Vec::new();
    network.read(1, &mut read);
    assert_eq!(read.len(), options.window);
}

#[test]
fn datagrams_of_nonsense_do_no_harm() {
    let mut network = Network::new(ReliableOptions::default(), Faults::default());
    let mut out = Vec::new();
    super::wire::data(&mut out, IDS[0], 0, false, 0, 0);
    out.extend_from_slice(b"good");
    for length in 0..out.len() {
        let now = network.now;
        network.machines[0].handle(&out[..length], now);
    }
    for number in 0..20_000u64 {
        let mut mad = out.clone();
        let place = usize::try_from(number.wrapping_mul(0x9e37_79b9) >> 7).unwrap() % mad.len();
        mad[place] ^= u8::try_from(number % 255).unwrap() + 1;
        let mut machine = Machine::new(
            IDS[0],
            IDS[1],
            1000,
            ReliableOptions::default(),
            Duration::ZERO,
        );
        machine.write(b"something");
        machine.transmit(Duration::ZERO, &mut Vec::new());
        machine.handle(&mad, network.now);
        machine.tick(network.now);
        while machine.transmit(network.now, &mut Vec::new()) {}
        assert!(machine.readable() <= 4);
    }
}

#[test]
fn who_contradicts_itself_is_reset() {
    let mut network = Network::new(ReliableOptions::default(), Faults::default());
    let mut out = Vec::new();
    super::wire::ack(&mut out, IDS[0], 5, 0, &[]);
    network.machines[0].handle(&out, network.now);
    assert_eq!(network.machines[0].end(), Some(End::BadPeer));
    while network.machines[1].end().is_none() {
        network.step();
    }
    assert_eq!(network.machines[1].end(), Some(End::Reset));
}

#[test]
fn a_peer_that_no_longer_knows_of_it_ends_it_and_a_liar_does_not() {
    let mut network = Network::new(ReliableOptions::default(), Faults::default());
    let mut out = Vec::new();
    for unknown in [0, IDS[0], 99] {
        super::wire::gone(&mut out, unknown);
        network.machines[0].handle(&out, network.now);
        super::wire::reset(&mut out, unknown ^ 1);
        network.machines[0].handle(&out, network.now);
    }
    assert_eq!(network.machines[0].end(), None);
    super::wire::gone(&mut out, IDS[1]);
    network.machines[0].handle(&out, network.now);
    assert_eq!(network.machines[0].end(), Some(End::Reset));
}
