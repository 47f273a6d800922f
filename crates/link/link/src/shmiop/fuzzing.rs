//! Fuzzing of a connection whose peer writes whatever an input says.

use super::address::{Addresses, NAME};
use super::connection::{Parts, ShmConnection};
use super::copies::CopyCounters;
use super::layout::{CLOSED, CONTROL, HEAD, INLINE, LENT, MARKS, Sizes, TAIL, UNIT, padded, pair};
use super::options::{ShmOptions, Trust};
use super::writer;
use crate::fuzzing::Program;
use crate::{Address, Connection, Loan};
use punctual_cdr::{Block, Lender};
use punctual_exec::Deadline;
use punctual_sys::credentials::Credentials;
use punctual_sys::memory::{self, PeerMemory, Region};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

const SIZES: Sizes = Sizes {
    ring: 4096,
    pool: 8192,
};
/// Smallest first byte of inputs whose peer gets fresh memory of its own.
const NEW: u8 = 0xf0;
/// Smallest first byte of a step that an application with loans performs.
const LOANS: u8 = 252;
/// Upper bound of the number of steps that one fuzzing input performs.
const STEPS: usize = 64;

/// Hostile peer: its own memory, and its write position.
struct Hostile {
    file: Option<OwnedFd>,
    memory: Option<Region>,
    written: u32,
    /// Socket of the peer, open for as long as it lives.
    _socket: UnixStream,
}

impl Hostile {
    fn word(&mut self, index: usize, value: u32) {
        self.put(4 * index, &value.to_ne_bytes());
    }

    fn put(&mut self, at: usize, octets: &[u8]) {
        let memory = self.memory.as_mut().map(Region::as_mut_slice);
        let place = memory.and_then(|memory| memory.get_mut(at..at + octets.len()));
        if let Some(to) = place {
            to.copy_from_slice(octets);
        }
    }

    /// Writes into the ring; what reaches past its end continues at its start.
    fn put_in_ring(&mut self, octets: &[u8]) {
        for octet in octets {
            let at = (self.written & (SIZES.ring - 1)) as usize;
            self.put(CONTROL + at, &[*octet]);
            self.written = self.written.wrapping_add(1);
        }
    }

    fn show(&mut self) {
        self.word(HEAD, self.written);
    }
}

thread_local! {
    /// Memory of a peer kept for reuse. To make one costs more than a run.
    static REST: RefCell<Option<(OwnedFd, Region)>> = const { RefCell::new(None) };
}

/// Returns a peer's memory, all zeros; a new one has untouched pages.
fn peer_memory(is_new: bool) -> io::Result<(OwnedFd, Region)> {
    let Some((file, mut memory)) = REST.take().filter(|_| !is_new) else {
        return memory::create("punctual-fuzz", SIZES.total());
    };
    memory.as_mut_slice().fill(0);
    Ok((file, memory))
}

impl Drop for Hostile {
    fn drop(&mut self) {
        REST.set(self.file.take().zip(self.memory.take()));
    }
}

/// Runs an input's steps: the peer's writes to its ring, its pool and its control words, between
/// this side's receiving, reading, sending and returning.
///
/// # Errors
/// The operating system's: it has no memory, or no socket.
///
/// # Panics
/// If the input reveals a fault.
pub fn hostile_writer(input: &[u8]) -> io::Result<()> {
    let mut program = Program(input);
    let how = program.octet();
    let options = ShmOptions {
        ring: SIZES.ring,
        pool: SIZES.pool,
        lend_threshold: 64,
        spin: Some(Duration::ZERO),
        descriptor: how & 1 != 0,
        trust: if how & 2 == 0 {
            Trust::Never
        } else {
            Trust::SameUser
        },
        ..ShmOptions::default()
    };
    let (connection, mut peer) = connect(&options, how >= NEW)?;
    assert!(connection.lender().is_some() && !format!("{connection:?}").is_empty());
    let mut block = Connection::lend(&connection, 0);
    let (mut held, mut loans) = (Vec::new(), Vec::new());
    for _ in 0..STEPS {
        match program.0.first() {
            None => break,
            Some(LOANS..) => loan(&mut program, &connection, &mut loans),
            Some(_) => step(&mut program, &mut peer, &connection, &mut block, &mut held),
        }
    }
    // Lent memory may outlive the connection.
    drop(connection);
    look_at(&block);
    held.iter().for_each(look_at);
    Ok(())
}

fn connect(options: &ShmOptions, is_new: bool) -> io::Result<(ShmConnection, Hostile)> {
    let (socket, other) = UnixStream::pair()?;
    let trusted = match options.trust {
        Trust::Never => None,
        Trust::SameUser => {
            let same = Credentials::of_peer(&socket)?.same_user();
            same.map(memory::Trusted::by_choice)
        }
    };
    let (_own, memory) = memory::create("punctual-fuzz", SIZES.total())?;
    let (file, theirs) = peer_memory(is_new)?;
    let (control, ring, pool) = writer::parts(memory, SIZES);
    let seen = PeerMemory::map(&file, SIZES.total())
        .map_err(|refused| io::Error::other(format!("{refused:?}")))?;
    let here = Address::new(NAME, "/here");
    let connection = ShmConnection::new(Parts {
        control,
        ring,
        pool,
        theirs: seen,
        their_sizes: SIZES,
        socket: socket.into(),
        trusted,
        copies: Arc::<CopyCounters>::default().open(),
        addresses: Addresses {
            local: here.clone(),
            peer: here,
        },
        options,
    });
    let peer = Hostile {
        file: Some(file),
        memory: Some(theirs),
        written: 0,
        _socket: other,
    };
    Ok((connection, peer))
}

fn step(
    program: &mut Program<'_>,
    peer: &mut Hostile,
    connection: &ShmConnection,
    block: &mut Block,
    held: &mut Vec<Block>,
) {
    let now = || Deadline::after(Duration::ZERO);
    match program.octet() % 12 {
        0 => {
            let octets = program.some();
            let claimed = match program.octet() {
                0..200 => u32::try_from(octets.len()).unwrap_or_default(),
                _ => program.number(),
            };
            peer.put_in_ring(&pair(INLINE, claimed).to_ne_bytes());
            peer.put_in_ring(octets);
            peer.written = padded(peer.written);
            peer.show();
        }
        1 => {
            let [slot, offset, length] = [program.octet(), program.octet(), program.octet()];
            let grain = u32::from(program.octet()).max(1);
            let record = pair(LENT, u32::from(length) * grain);
            let place = pair(slot.into(), u32::from(offset) * grain);
            peer.put_in_ring(&record.to_ne_bytes());
            peer.put_in_ring(&place.to_ne_bytes());
            peer.show();
        }
        2 => {
            let octets = program.some();
            peer.put_in_ring(octets);
            peer.show();
        }
        3 => {
            peer.written = peer.written.wrapping_add(u32::from(program.octet()) * UNIT);
            peer.show();
        }
        4 => {
            let value = program.number();
            let words = [HEAD, TAIL, CLOSED, 64, 65, 96, 97, 112];
            let which = usize::from(program.octet());
            peer.word(words.get(which).copied().unwrap_or(which), value);
        }
        5 => {
            let (slot, times) = (usize::from(program.octet()), program.octet());
            peer.word(MARKS + slot, times.into());
        }
        6 => {
            let at = CONTROL + SIZES.ring as usize + 16 * usize::from(program.octet());
            let octets = program.some();
            peer.put(at, octets);
        }
        7 | 8 => {
            let need = block.full_len() + usize::from(program.octet());
            let before = block.full_len();
            match connection.receive(block, need, now()) {
                Ok(count) => assert_eq!(block.full_len(), before + count),
                Err(_) => assert_eq!(block.full_len(), before),
            }
        }
        9 => {
            look_at(block);
            let next = Connection::lend(connection, 0);
            let full = std::mem::replace(block, next);
            match program.octet() % 2 {
                0 if held.len() < 8 => held.push(full),
                _ => drop(held.pop()),
            }
        }
        10 => {
            let length = 16 * usize::from(program.octet());
            match Lender::lend(connection, &vec![7; length]) {
                Some(segment) => {
                    drop(connection.send(&[IoSlice::new(segment.as_slice())], now()));
                }
                None => drop(connection.send(&[IoSlice::new(&vec![1; length])], now())),
            }
        }
        _ => drop(connection.pending()),
    }
}

/// Performs an application's step with loans: takes, fills, sends or returns one. Checks that a
/// loan's content stays as filled, whatever other holders do.
fn loan(program: &mut Program<'_>, connection: &ShmConnection, loans: &mut Vec<(Loan, u8)>) {
    let what = program.octet() - LOANS;
    let which = usize::from(program.octet());
    if what == 0 {
        let fill = program.octet();
        if let Some(mut loan) = connection.loan(32 * which + 1).filter(|_| loans.len() < 8) {
            loan.fill(fill);
            loans.push((loan, fill));
        }
    }
    let at = which % loans.len().max(1);
    let Some((loan, fill)) = loans.get_mut(at) else {
        return;
    };
    match what {
        1 => {
            *fill = program.octet();
            loan.fill(*fill);
        }
        2 => drop(loans.swap_remove(at)),
        _ => {
            if let Some(segment) = Lender::lend(connection, loan) {
                assert!(!format!("{segment:?}").is_empty());
                let parts = [IoSlice::new(segment.as_slice())];
                let _ = connection.send(&parts, Deadline::after(Duration::ZERO));
            }
        }
    }
    for (loan, fill) in loans {
        assert!(loan.iter().all(|octet| octet == fill));
    }
}

/// Reads all of the received data: copied, in place, and from a private copy.
fn look_at(block: &Block) {
    for lent in block.lent() {
        let mut copy = vec![0; lent.segment.len()];
        lent.segment.copy_to(&mut copy);
        std::hint::black_box(lent.segment.view().len());
    }
    let mut sum = 0u8;
    block.for_each_stretch(|stretch| {
        sum = stretch
            .iter()
            .fold(sum, |sum, octet| sum.wrapping_add(*octet));
    });
    for lent in block.lent() {
        let (whole, mut copy) = (lent.segment.as_slice(), vec![0; lent.segment.len()]);
        lent.segment.copy_to(&mut copy);
        assert_eq!(whole, copy);
        assert_eq!(whole, lent.segment.view());
        assert!(!format!("{:?}", lent.segment).is_empty());
    }
    std::hint::black_box(sum);
}
