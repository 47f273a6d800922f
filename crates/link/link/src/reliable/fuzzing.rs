//! Fuzzing of the adapter's datagrams: sent to a client that opens a connection, to an acceptor,
//! and to a connection.

use super::cookie::Cookies;
use super::handshake::{Opening, UnknownSender, handle_unknown_sender};
use super::machine::Machine;
use super::options::ReliableOptions;
use super::wire;
use crate::Address;
use crate::fuzzing::Program;
use punctual_cdr::Block;
use std::time::Duration;

const OWN: u64 = 7;
const PEER: u64 = 8;

/// Sends the datagrams that the input describes to each end.
pub fn datagrams(input: &[u8]) {
    let mut program = Program(input);
    match program.octet() % 4 {
        0 => strangers(&mut program),
        1 => opening(&mut program),
        _ => connection(&mut program),
    }
}

fn strangers(program: &mut Program<'_>) {
    let (mut cookies, mut out) = (Cookies::new(), Vec::new());
    let from = Address::new("x", "client");
    let mut now = 100;
    while !program.0.is_empty() {
        let octets = datagram(program);
        now += u32::from(program.octet() & 1);
        match handle_unknown_sender(&mut cookies, &from, &octets, now, &mut out) {
            UnknownSender::Answered => assert!(out.len() <= octets.len().max(32)),
            // The key is random: the input cannot have guessed a cookie.
            UnknownSender::Opens(_) => panic!("opened without a cookie"),
            UnknownSender::Ignored => {}
        }
    }
}

fn opening(program: &mut Program<'_>) {
    let (mut opening, mut out) = (Opening::new(OWN, 500), Vec::new());
    let mut now = Duration::ZERO;
    while !program.0.is_empty() {
        opening.transmit(now, &mut out);
        let octets = datagram(program);
        if opening.handle(&octets, now).is_some() {
            break;
        }
        now += Duration::from_millis(program.octet().into());
    }
}

fn connection(program: &mut Program<'_>) {
    let options = ReliableOptions {
        datagram: 256,
        window: 1024,
        ..ReliableOptions::default()
    };
    let mut now = Duration::from_secs(1);
    let mut machine = Machine::new(OWN, PEER, 1000, options, now);
    let mut block = Block::default();
    let mut out = Vec::new();
    while !program.0.is_empty() {
        match program.octet() % 10 {
            0..4 => {
                let octets = datagram(program);
                machine.handle(&octets, now);
            }
            4 => {
                let written = machine.write(&vec![3; 4 * usize::from(program.octet())]);
                assert!(written <= options.window);
            }
            5 => {
                let wanted = usize::from(program.octet());
                let readable = machine.readable();
                let before = block.len();
                let count = machine.read(&mut block, wanted, now);
                assert!(count <= wanted && count <= readable.max(count));
                assert_eq!(block.len(), before + count);
                block.clear();
            }
            6 => {
                now += Duration::from_millis(u64::from(program.octet()) * 16);
                machine.tick(now);
            }
            7 => {
                if let Some(due) = machine.timer() {
                    now = now.max(due);
                    machine.tick(now);
                }
            }
            8 => machine.close(now),
            _ => {
                // A window full of the smallest datagrams, and the control datagrams.
                for _ in 0..options.window {
                    if !machine.transmit(now, &mut out) {
                        break;
                    }
                    assert!(out.len() <= options.datagram, "{} octets", out.len());
                    assert!(wire::decode(&out).is_some());
                }
            }
        }
        assert!(machine.readable() <= options.window);
        assert!(machine.room() <= options.window);
        let _ = (machine.end(), machine.send_end(), machine.is_over(now));
    }
}

/// Makes a datagram: arbitrary bytes, or a well-formed one with small numbers in its fields.
fn datagram(program: &mut Program<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let kind = program.octet();
    let id = match kind & 0xf0 {
        0xf0 => PEER,
        _ => OWN,
    };
    let number = |program: &mut Program<'_>| u64::from(program.octet()) * 8;
    let window = |program: &mut Program<'_>| u32::from(program.octet()) * 16;
    match kind % 12 {
        0 => wire::hello(&mut out, id),
        1 => wire::cookie(&mut out, id, program.number(), 5),
        2 => wire::open(&mut out, PEER, program.number(), 5, window(program)),
        3 => wire::accept(&mut out, id, PEER, window(program)),
        4..7 => {
            let (offset, ack) = (number(program), number(program));
            wire::data(&mut out, id, offset, kind & 0x20 != 0, ack, window(program));
            out.extend_from_slice(program.some());
        }
        7 => {
            let ack = number(program);
            let ranges: Vec<_> = (0..kind >> 5)
                .map(|_| (number(program), number(program)))
                .collect();
            wire::ack(&mut out, id, ack, window(program), &ranges);
        }
        8 => wire::ping(&mut out, id),
        9 => wire::reset(&mut out, id),
        10 => wire::gone(&mut out, id),
        _ => out.extend_from_slice(program.some()),
    }
    out
}
