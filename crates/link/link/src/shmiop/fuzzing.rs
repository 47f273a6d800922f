//! Fuzzing of a connection whose peer writes whatever an input says.

use super::address::{Addresses, NAME};
use super::common::{CommonPool, Offer};
use super::connection::{Parts, ShmConnection};
use super::copies::CopyCounters;
use super::holder::SHARE;
use super::incoming::PeerCommon;
use super::layout::{
    CLOSED, COMMON, COMMON_MARKS, CONTROL, HEAD, INLINE, LENT, MARKS, Sizes, TAIL, UNIT, padded,
    pair,
};
use super::options::{ShmOptions, Trust};
use super::writer;
use crate::fuzzing::Program;
use crate::{Address, Connection, Loan};
use punctual_cdr::{Block, Lender, Segment};
use punctual_exec::Deadline;
use punctual_sys::credentials::Credentials;
use punctual_sys::lifeline::Lifeline;
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
/// Smallest first byte of a step with a common pool.
const COMMONS: u8 = 244;
/// Smallest first byte of a step that an application with loans performs.
const LOANS: u8 = 252;
/// Upper bound of the number of steps that one fuzzing input performs.
const STEPS: usize = 64;

/// Hostile peer: its memories, and its write position.
struct Hostile {
    memories: Option<Memories>,
    written: u32,
    /// Socket of the peer, open for as long as it lives.
    _socket: UnixStream,
    /// End of the lifeline of this side's common pool, if that was given to the peer.
    _held: Option<OwnedFd>,
}

/// Memory of a peer's own, and its common pool.
struct Memories {
    own: (OwnedFd, Region),
    common: (OwnedFd, Region),
}

/// Connection under test, with what belongs to it.
struct Tested {
    connection: ShmConnection,
    /// Common pool that this side lends from, if it has one.
    common: Option<Arc<CommonPool>>,
    /// Copies in that pool, and what they were filled with.
    copies: Vec<(Arc<dyn Segment>, u8)>,
}

impl Hostile {
    fn word(&mut self, index: usize, value: u32) {
        self.put(4 * index, &value.to_ne_bytes());
    }

    fn put(&mut self, at: usize, octets: &[u8]) {
        if let Some(memories) = &mut self.memories {
            put(&mut memories.own.1, at, octets);
        }
    }

    fn put_in_common(&mut self, at: usize, octets: &[u8]) {
        if let Some(memories) = &mut self.memories {
            put(&mut memories.common.1, at, octets);
        }
    }

    /// Writes a record that refers to a stretch of the pool or the common pool.
    fn put_reference(&mut self, kind: u32, program: &mut Program<'_>) {
        let [slot, offset, length] = [program.octet(), program.octet(), program.octet()];
        let grain = u32::from(program.octet()).max(1);
        let record = pair(kind, u32::from(length) * grain);
        let place = pair(slot.into(), u32::from(offset) * grain);
        self.put_in_ring(&record.to_ne_bytes());
        self.put_in_ring(&place.to_ne_bytes());
        self.show();
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

fn put(memory: &mut Region, at: usize, octets: &[u8]) {
    if let Some(to) = memory.as_mut_slice().get_mut(at..at + octets.len()) {
        to.copy_from_slice(octets);
    }
}

thread_local! {
    /// Memories of a peer kept for reuse. To make them costs more than a run.
    static REST: RefCell<Option<Memories>> = const { RefCell::new(None) };
}

/// Returns a peer's memories, all zeros; new ones have untouched pages.
fn peer_memories(is_new: bool) -> io::Result<Memories> {
    let Some(mut memories) = REST.take().filter(|_| !is_new) else {
        return Ok(Memories {
            own: memory::create("punctual-fuzz", SIZES.total())?,
            common: memory::create("punctual-fuzz", SIZES.pool as usize)?,
        });
    };
    memories.own.1.as_mut_slice().fill(0);
    memories.common.1.as_mut_slice().fill(0);
    Ok(memories)
}

impl Drop for Hostile {
    fn drop(&mut self) {
        REST.set(self.memories.take());
    }
}

/// Runs an input's steps: the peer's writes to its ring, its pools and its control words, between
/// this side's receiving, reading, sending and returning. Checks at the end that all of this side's
/// common pool is free once the peer is gone.
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
    let (mut tested, mut peer) = connect(&options, how)?;
    let connection = &tested.connection;
    assert!(connection.lender().is_some() && !format!("{connection:?}").is_empty());
    let mut block = Connection::lend(connection, 0);
    let (mut held, mut loans) = (Vec::new(), Vec::new());
    for _ in 0..STEPS {
        let connection = &tested.connection;
        match program.0.first() {
            None => break,
            Some(LOANS..) => loan(&mut program, connection, &mut loans),
            Some(COMMONS..) => common(&mut program, &mut peer, &mut tested),
            Some(_) => step(&mut program, &mut peer, connection, &mut block, &mut held),
        }
    }
    // Lent memory may outlive the connection.
    drop(tested.connection);
    look_at(&block);
    held.iter().for_each(look_at);
    drop((peer, tested.copies));
    if let Some(common) = tested.common {
        let share = [0; SIZES.pool as usize / SHARE];
        let put = || (0..SHARE).map_while(|_| common.put(&share));
        // The first round may only find out that the peer is gone.
        assert!((0..2).any(|_| put().collect::<Vec<_>>().len() == SHARE));
    }
    Ok(())
}

fn connect(options: &ShmOptions, how: u8) -> io::Result<(Tested, Hostile)> {
    let failed = |error: &dyn std::fmt::Debug| io::Error::other(format!("{error:?}"));
    let (socket, other) = UnixStream::pair()?;
    let trusted = match options.trust {
        Trust::Never => None,
        Trust::SameUser => {
            let same = Credentials::of_peer(&socket)?.same_user();
            same.map(memory::Trusted::by_choice)
        }
    };
    let (_own, memory) = memory::create("punctual-fuzz", SIZES.total())?;
    let theirs = peer_memories(how >= NEW)?;
    let (control, ring, pool) = writer::parts(memory, SIZES);
    let map = |file: &OwnedFd, len| PeerMemory::map(file, len).map_err(|error| failed(&error));
    let seen = map(&theirs.own.0, SIZES.total())?;
    let their_common = match how & 4 {
        0 => None,
        _ => Some(PeerCommon {
            memory: map(&theirs.common.0, SIZES.pool as usize)?,
            _lifeline: Lifeline::new()?.1,
        }),
    };
    let common = match how & 8 {
        0 => None,
        _ => {
            let made = CommonPool::new(SIZES.pool, &Arc::default());
            Some(Arc::new(made.map_err(|error| failed(&error))?))
        }
    };
    let offer = common.clone().map(Offer::new).transpose();
    let offer = offer.map_err(|error| failed(&error))?;
    let held = offer.as_ref().map(|offer| {
        let [_, held] = offer.descriptors();
        held.try_clone_to_owned()
    });
    let held = held.transpose()?;
    let here = Address::new(NAME, "/here");
    let connection = ShmConnection::new(Parts {
        control,
        ring,
        pool,
        theirs: seen,
        their_sizes: SIZES,
        common: offer,
        their_common,
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
        memories: Some(theirs),
        written: 0,
        _socket: other,
        _held: held,
    };
    let tested = Tested {
        connection,
        common,
        copies: Vec::new(),
    };
    Ok((tested, peer))
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
        1 => peer.put_reference(LENT, program),
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

/// Performs a step with the common pools: the peer's writes, or copies of this side that it sends.
/// Checks that a copy's content stays, whatever the peer gives back.
fn common(program: &mut Program<'_>, peer: &mut Hostile, tested: &mut Tested) {
    match program.octet() - COMMONS {
        0 | 1 => peer.put_reference(COMMON, program),
        2 => {
            let (slot, times) = (usize::from(program.octet()), program.octet());
            peer.word(COMMON_MARKS + slot, times.into());
        }
        3 => {
            let at = 16 * usize::from(program.octet());
            let octets = program.some();
            peer.put_in_common(at, octets);
        }
        4 => {
            let (length, fill) = (16 * usize::from(program.octet()), program.octet());
            let copy = tested.connection.share(&vec![fill; length]);
            tested.copies.extend(copy.map(|copy| (copy, fill)));
        }
        5 => {
            let which = usize::from(program.octet()) % tested.copies.len().max(1);
            if which < tested.copies.len() {
                drop(tested.copies.swap_remove(which));
            }
        }
        _ => {
            let which = usize::from(program.octet()) % tested.copies.len().max(1);
            let from = usize::from(program.octet());
            let copy = tested.copies.get(which);
            let octets = copy.and_then(|(copy, _)| copy.as_slice().get(from..));
            if let Some(octets) = octets {
                let lent = Lender::lend(&tested.connection, octets);
                let parts = [IoSlice::new(
                    lent.as_ref().map_or(octets, |it| it.as_slice()),
                )];
                let sent = tested
                    .connection
                    .send(&parts, Deadline::after(Duration::ZERO));
                drop(sent);
            }
        }
    }
    for (copy, fill) in &tested.copies {
        assert!(copy.as_slice().iter().all(|octet| octet == fill));
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
