//! Packets of unknown senders, for fuzzing.

use super::assembly::Assembly;
use super::counts::Counters;
use super::options::MiopOptions;
use super::packet::Packet;
use crate::datagram::{Intake, Tally};
use crate::fuzzing::Program;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LARGEST: usize = 600;
const MESSAGES: usize = 5;
const MEMORY: usize = 2000;

/// Interprets the input as datagrams: raw ones, and packets whose fields the input gives, of some senders, and as time that
/// passes.
///
/// # Panics
/// If a limit is exceeded, a message is longer than what arrived, or a datagram is not counted.
pub fn packets(input: &[u8]) {
    let mut program = Program(input);
    let options = MiopOptions {
        largest: LARGEST,
        messages: MESSAGES,
        messages_of_source: 3,
        memory: MEMORY,
        memory_of_source: MEMORY / 2,
        packets: 20,
        age: Duration::from_secs(10),
        ..MiopOptions::default()
    };
    let counters = Arc::new(Counters::default());
    let mut assembly = Assembly::new(options, None, counters.clone());
    let mut now = Instant::now();
    let (mut arrived, mut passed_on, mut datagrams) = (0, 0, 0);
    while !program.0.is_empty() {
        let step = program.octet();
        let from = ([10, 0, 0, step >> 6], u16::from(step >> 4) + 1).into();
        let datagram = match step % 8 {
            0 => {
                now += Duration::from_secs(program.octet().into());
                assembly.look(now);
                continue;
            }
            1 => program.some().to_vec(),
            kind => {
                let (number, count) = (program.octet().into(), program.octet());
                let id = [program.octet() % 4];
                let octets = program.some();
                let packet = Packet {
                    number: if kind == 2 { program.number() } else { number },
                    count: Some(count.into()).filter(|count| *count != 0),
                    is_last: kind == 3,
                    id: &id,
                    octets,
                };
                [&packet.header_of(octets.len())[..], octets].concat()
            }
        };
        datagrams += 1;
        arrived += datagram.len();
        if let Some(message) = assembly.take(from, &datagram, now) {
            passed_on += message.len();
            assert!(message.len() <= LARGEST);
        }
        let (messages, octets) = assembly.held();
        assert!(messages <= MESSAGES && octets <= MEMORY);
    }
    assert!(passed_on <= arrived);
    let counts = counters.read(&Tally::default());
    assert_eq!(counts.datagrams, datagrams);
    let (messages, octets) = assembly.held();
    let counted = (counts.under_way, counts.under_way_octets);
    assert_eq!(counted, (messages as u64, octets as u64));
    assembly.look(now + Duration::from_secs(100));
    assert_eq!(assembly.held(), (0, 0));
    // What was given up is remembered for as long again, so that packets that come late do not begin it anew.
    assembly.look(now + Duration::from_secs(200));
    assert_eq!(assembly.remembered(), (0, 0));
}
