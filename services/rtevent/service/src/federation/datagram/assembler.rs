//! Messages put together from their fragments.

use super::header::{BadDatagram, FragmentHeader};
use super::window::{Partial, Slot, Window};
use punctual::stub::ByteOrder;
use std::collections::HashMap;
use std::net::SocketAddr;

/// Limits of an [`Assembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblerOptions {
    /// Check the CRC-32 of each datagram: all senders have to compute it. Default: false.
    pub has_checksum: bool,
    /// Maximum octets of a message. Default: 1 MiB.
    pub most_message: usize,
    /// Maximum octets of memory of all incomplete messages, 64 for each fragment beside its own; fragments beyond are
    /// dropped. Default: 16 MiB.
    pub most_incomplete: usize,
    /// Maximum number of sources; beyond, the one that was silent for the longest is forgotten. Default: 1,024.
    pub most_sources: usize,
    /// Messages of a source that are known at a time, from the latest backwards: older ones that are
    /// incomplete are lost. Default: 1,024.
    pub window: usize,
}

impl Default for AssemblerOptions {
    fn default() -> Self {
        Self {
            has_checksum: false,
            most_message: 1 << 20,
            most_incomplete: 16 << 20,
            most_sources: 1_024,
            window: 1_024,
        }
    }
}

/// Datagrams and messages, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that were complete.
    pub messages: u64,
    /// Fragments that had arrived before, or whose message was complete.
    pub duplicates: u64,
    /// Fragments of messages older than the window.
    pub late: u64,
    /// Datagrams that were no fragments, or contradicted others.
    pub bad: u64,
    /// Fragments for which there was no memory.
    pub no_room: u64,
    /// Messages that left the window without having been complete. Senders count all messages of a socket, so
    /// that those to other groups are among them.
    pub lost: u64,
}

/// What became of a datagram.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// The fragment completed a message.
    Message(ByteOrder, Vec<u8>),
    /// Other fragments of the message are still missing.
    Incomplete,
    /// The fragment had arrived before.
    Duplicate,
    /// The fragment's message is older than the window.
    Late,
    /// The memory for incomplete messages is used up.
    NoRoom,
    /// The datagram is not a fragment.
    Bad(BadDatagram),
}

/// Messages put together from fragments of many sources. Time does not matter to it: a message is given up when
/// its source has sent so many others that it leaves the window.
#[derive(Debug)]
pub struct Assembler {
    options: AssemblerOptions,
    sources: HashMap<SocketAddr, Source>,
    counts: Counts,
    /// Octets that incomplete messages hold.
    held: usize,
    /// Number of datagrams so far.
    datagrams: u64,
}

#[derive(Debug)]
struct Source {
    window: Window,
    /// Number of the latest datagram.
    latest: u64,
}

impl Assembler {
    /// Makes an assembler that has not received a datagram yet.
    #[must_use]
    pub fn new(options: AssemblerOptions) -> Self {
        Self {
            options,
            sources: HashMap::new(),
            counts: Counts::default(),
            held: 0,
            datagrams: 0,
        }
    }

    /// Takes a datagram.
    pub fn take(&mut self, from: SocketAddr, datagram: &[u8]) -> Taken {
        self.datagrams += 1;
        let taken = match FragmentHeader::decode(datagram, self.options.has_checksum) {
            Ok((header, fragment)) => self.fragment(from, &header, fragment),
            Err(bad) => Taken::Bad(bad),
        };
        let counts = &mut self.counts;
        match taken {
            Taken::Message(..) => counts.messages += 1,
            Taken::Incomplete => {}
            Taken::Duplicate => counts.duplicates += 1,
            Taken::Late => counts.late += 1,
            Taken::NoRoom => counts.no_room += 1,
            Taken::Bad(_) => counts.bad += 1,
        }
        taken
    }

    /// Returns the counts of datagrams and messages.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the number of messages that are missing or incomplete among the latest of all sources: they are lost if
    /// nothing of them is on the way any more. Takes time in proportion to the windows.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.sources
            .values()
            .map(|source| source.window.missing())
            .sum()
    }

    fn fragment(&mut self, from: SocketAddr, header: &FragmentHeader, fragment: &[u8]) -> Taken {
        let (size, limit) = (header.message_size, self.options.most_message);
        if size as usize > limit {
            return Taken::Bad(BadDatagram::TooLong { size, limit });
        }
        if header.count > 1 {
            self.make_room(from, Partial::cost(fragment));
        }
        let (mut held, most) = (self.held, self.options.most_incomplete);
        let source = self.source(from, header.message);
        let (slot, lost) = source.window.slot(header.message);
        held -= lost.octets;
        let taken = match slot {
            Some(slot) => put(slot, header, fragment, &mut held, most),
            None => Taken::Late,
        };
        self.held = held;
        self.counts.lost += lost.messages;
        taken
    }

    /// Gives up incomplete messages of the sources that were silent for the longest, until there is room for a
    /// message of another source.
    fn make_room(&mut self, from: SocketAddr, octets: usize) {
        while self.held + octets > self.options.most_incomplete {
            let others = self
                .sources
                .iter_mut()
                .filter(|(address, _)| **address != from);
            let holders = others.filter(|(_, source)| source.window.held() > 0);
            let Some((_, source)) = holders.min_by_key(|(_, source)| source.latest) else {
                return;
            };
            let lost = source.window.give_up();
            self.held -= lost.octets;
            self.counts.lost += lost.messages;
        }
    }

    /// Returns the source with an address, from which this message arrives.
    fn source(&mut self, from: SocketAddr, message: u32) -> &mut Source {
        if !self.sources.contains_key(&from) && self.sources.len() >= self.options.most_sources {
            self.forget_one();
        }
        let window = self.options.window;
        let source = self.sources.entry(from).or_insert_with(|| Source {
            window: Window::new(message, window),
            latest: 0,
        });
        source.latest = self.datagrams;
        source
    }

    fn forget_one(&mut self) {
        let oldest = self.sources.iter().min_by_key(|(_, source)| source.latest);
        let oldest = oldest.map(|(address, _)| *address);
        let removed = oldest.and_then(|address| self.sources.remove(&address));
        self.held -= removed.map_or(0, |source| source.window.held());
    }
}

/// Puts a fragment into its message's place, and counts the memory that incomplete messages hold.
fn put(
    slot: &mut Slot,
    header: &FragmentHeader,
    fragment: &[u8],
    held: &mut usize,
    most: usize,
) -> Taken {
    match slot {
        Slot::Done => return Taken::Duplicate,
        Slot::Missing | Slot::Before if header.count == 1 => {
            *slot = Slot::Done;
            return Taken::Message(header.order, fragment.to_vec());
        }
        _ if *held + Partial::cost(fragment) > most => return Taken::NoRoom,
        Slot::Missing | Slot::Before => *slot = Slot::Partial(Box::new(Partial::new(header))),
        Slot::Partial(_) => {}
    }
    let Slot::Partial(partial) = slot else {
        return Taken::Duplicate;
    };
    match partial.take(header, fragment) {
        Ok(true) => {
            *held += Partial::cost(fragment);
            match partial.is_complete() {
                true => complete(slot, held),
                false => Taken::Incomplete,
            }
        }
        Ok(false) => Taken::Duplicate,
        Err(bad) => Taken::Bad(bad),
    }
}

/// Takes a complete message out of its place.
fn complete(slot: &mut Slot, held: &mut usize) -> Taken {
    let Slot::Partial(partial) = std::mem::replace(slot, Slot::Done) else {
        return Taken::Duplicate;
    };
    *held -= partial.held();
    match partial.finish() {
        Ok((order, message)) => Taken::Message(order, message),
        Err(bad) => Taken::Bad(bad),
    }
}
