//! State machine of one connection: both halves, acknowledgements, keep-alive, the end. Pure:
//! datagrams and times are passed in, datagrams and the next time come out.

use super::incoming::{Arrival, Incoming};
use super::options::ReliableOptions;
use super::outgoing::Outgoing;
use super::wire::{self, Datagram};
use punctual_cdr::Block;
use std::time::Duration;

/// Time that an acknowledgement may wait for data to be sent with it.
const ACK_DELAY: Duration = Duration::from_millis(5);
/// Upper bound of the number of data datagrams acknowledged together.
const ACK_EVERY: u32 = 2;
/// Interval at which a peer with a closed window is probed; it reports an opened window itself, but
/// that datagram may be lost.
const PROBE: Duration = Duration::from_millis(200);
/// Time for which a connection that is over still answers a peer that has not noticed.
const LINGER_AFTER_END: Duration = Duration::from_millis(250);

/// Reason why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Connection closed by this side.
    Closed,
    /// Closed by the peer, after all data still to be read.
    PeerClosed,
    /// Connection reset by the peer, or unknown to the peer.
    Reset,
    /// Peer silent for too long.
    Silent,
    /// Peer that sent contradictory datagrams.
    BadPeer,
}

#[derive(Debug)]
pub(super) struct Machine {
    id: u64,
    peer: u64,
    options: ReliableOptions,
    outgoing: Outgoing,
    incoming: Incoming,
    /// Number of received data datagrams that have not been acknowledged yet.
    unacknowledged: u32,
    ack_due: Option<Duration>,
    /// Offset up to which the peer may send, as last announced to it.
    advertised_limit: u64,
    heard: Duration,
    /// Number of pings sent since the last datagram from the peer.
    pings: u32,
    pinged: Duration,
    ping_wanted: bool,
    accept_wanted: bool,
    reset_wanted: bool,
    end: Option<End>,
    /// Time when this side closed, and when it stops delivering.
    closed: Option<Duration>,
    over: Option<Duration>,
}

impl Machine {
    /// Makes a connection after the handshake: `id` is this side's, `peer` the other's.
    pub(super) fn new(
        id: u64,
        peer: u64,
        window: u32,
        options: ReliableOptions,
        now: Duration,
    ) -> Self {
        let payload = options.datagram.saturating_sub(wire::DATA_OVERHEAD).max(1);
        let incoming = Incoming::new(options.window);
        Self {
            id,
            peer,
            outgoing: Outgoing::new(payload, options.window, window),
            advertised_limit: u64::from(incoming.window()),
            incoming,
            options,
            unacknowledged: 0,
            ack_due: None,
            heard: now,
            pings: 0,
            pinged: now,
            ping_wanted: false,
            accept_wanted: false,
            reset_wanted: false,
            end: None,
            closed: None,
            over: None,
        }
    }

    /// Schedules the accept datagram to the client, at a server.
    pub(super) fn accept(&mut self) {
        self.accept_wanted = true;
    }

    /// Returns why the connection is over for receiving, once nothing is left to read.
    pub(super) fn end(&self) -> Option<End> {
        match self.end {
            Some(End::PeerClosed) if self.incoming.readable() > 0 => None,
            end => end,
        }
    }

    /// Returns the reason why no more data can be sent; `None` while the connection is open.
    pub(super) fn send_end(&self) -> Option<End> {
        self.end
    }

    /// Returns whether the connection can be forgotten: it is over, and no datagram needs to be
    /// sent to the peer any more.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        !self.reset_wanted && self.over.is_some_and(|over| over <= now)
    }

    /// Returns whether this side has closed and the peer does not have everything yet.
    pub(super) fn is_delivering(&self) -> bool {
        self.closed.is_some() && self.over.is_none()
    }

    pub(super) fn readable(&self) -> usize {
        if self.closed.is_some() {
            return 0;
        }
        self.incoming.readable()
    }

    pub(super) fn room(&self) -> usize {
        self.outgoing.room()
    }

    /// Takes as much from the front of `octets` as there is room for.
    pub(super) fn write(&mut self, octets: &[u8]) -> usize {
        if self.end.is_some() {
            return 0;
        }
        self.outgoing.write(octets)
    }

    /// Appends at most `wanted` received bytes to `block`.
    pub(super) fn read(&mut self, block: &mut Block, wanted: usize, now: Duration) -> usize {
        let count = self.incoming.read(block, wanted);
        // A peer that waits for the window is notified once the window is worth using.
        let offered = self.incoming.next() + u64::from(self.incoming.window());
        if offered - self.advertised_limit.min(offered) >= self.options.window as u64 / 2 {
            self.ack_due = Some(now);
        }
        count
    }

    /// Closes: written data still arrives, data received from now on is ignored.
    pub(super) fn close(&mut self, now: Duration) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(now);
        match self.end {
            // The peer has closed as well: it needs no finish, only its acknowledgement.
            Some(End::PeerClosed) => self.over = Some(now + LINGER_AFTER_END),
            Some(_) => self.over = Some(now),
            None => {
                self.outgoing.finish();
            }
        }
        self.end = Some(End::Closed);
    }

    /// Breaks off the connection after a failure of the link below.
    pub(super) fn fail(&mut self, end: End, now: Duration) {
        if self.closed.is_none() {
            self.end.get_or_insert(end);
        }
        self.over = Some(now);
        self.reset_wanted = matches!(end, End::BadPeer | End::Silent);
    }

    /// Handles a datagram received from the peer.
    pub(super) fn handle(&mut self, octets: &[u8], now: Duration) {
        let Some((id, datagram)) = wire::decode(octets) else {
            return;
        };
        if self.over.is_some() && self.end != Some(End::Closed) {
            return;
        }
        match datagram {
            // The client missed that it was accepted.
            Datagram::Open { client, .. } if client == self.peer => self.accept_wanted = true,
            Datagram::Gone if id == self.peer => self.fail(End::Reset, now),
            _ if id != self.id => {}
            Datagram::Reset => self.fail(End::Reset, now),
            Datagram::Ping => {
                self.alive(now);
                self.ack_due = Some(now);
            }
            Datagram::Ack {
                ack,
                window,
                ranges,
            } => {
                self.alive(now);
                self.acknowledged(ack, window, Some(ranges), now);
            }
            Datagram::Data {
                offset,
                finish,
                ack,
                window,
                octets,
            } => {
                self.alive(now);
                self.acknowledged(ack, window, None, now);
                self.arrived(offset, octets, finish, now);
            }
            _ => {}
        }
    }

    fn alive(&mut self, now: Duration) {
        self.heard = now;
        self.pings = 0;
    }

    fn acknowledged(
        &mut self,
        ack: u64,
        window: u32,
        ranges: Option<wire::Ranges<'_>>,
        now: Duration,
    ) {
        let news = self.outgoing.acknowledge(ack, window, ranges, now);
        if news.is_none() {
            self.fail(End::BadPeer, now);
        } else if self.closed.is_some() && self.outgoing.is_finished() {
            self.over.get_or_insert(now + LINGER_AFTER_END);
        }
    }

    fn arrived(&mut self, offset: u64, octets: &[u8], finish: bool, now: Duration) {
        if self.closed.is_some() {
            // No more data will be read; a peer that closes as well needs nothing of ours.
            if finish {
                self.over.get_or_insert(now + LINGER_AFTER_END);
            }
            self.ack_due = Some(now);
            return;
        }
        match self.incoming.receive(offset, octets, finish) {
            None => self.fail(End::BadPeer, now),
            Some(Arrival::InOrder) if !finish => {
                self.unacknowledged += 1;
                let due = if self.unacknowledged >= ACK_EVERY {
                    now
                } else {
                    now + ACK_DELAY
                };
                let due = self.ack_due.map_or(due, |known| known.min(due));
                self.ack_due = Some(due);
            }
            Some(_) => self.ack_due = Some(now),
        }
        if self.incoming.is_finished() {
            self.end.get_or_insert(End::PeerClosed);
        }
    }

    /// Makes the next datagram to be sent; returns `false` when there is none now.
    pub(super) fn transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        if std::mem::take(&mut self.reset_wanted) {
            wire::reset(out, self.peer);
            return true;
        }
        if self.over.is_some_and(|over| over <= now) {
            return false;
        }
        if std::mem::take(&mut self.accept_wanted) {
            wire::accept(out, self.peer, self.id, self.incoming.window());
            return true;
        }
        let (ack, window) = (self.incoming.next(), self.incoming.window());
        // A peer that has closed reads nothing any more.
        let may_send = !matches!(self.end, Some(End::PeerClosed)) && self.over.is_none();
        if may_send && let Some(piece) = self.outgoing.next(now) {
            wire::data(out, self.peer, piece.offset, piece.finish, ack, window);
            self.outgoing.copy(piece, out);
            if self.incoming.stretches().is_empty() {
                self.record_advertised(ack, window);
            }
            return true;
        }
        if self.ack_due.is_some_and(|due| due <= now) {
            wire::ack(out, self.peer, ack, window, self.incoming.stretches());
            self.record_advertised(ack, window);
            return true;
        }
        if std::mem::take(&mut self.ping_wanted) {
            wire::ping(out, self.peer);
            return true;
        }
        false
    }

    fn record_advertised(&mut self, ack: u64, window: u32) {
        self.unacknowledged = 0;
        self.ack_due = None;
        self.advertised_limit = ack + u64::from(window);
    }

    /// Returns the next time at which the machine changes without input.
    pub(super) fn timer(&self) -> Option<Duration> {
        if self.over.is_some() {
            return [self.over, self.ack_due].into_iter().flatten().min();
        }
        let linger = self.closed.map(|closed| closed + self.options.linger);
        let resend = match self.end {
            Some(End::PeerClosed) => None,
            _ => self.outgoing.timer(),
        };
        [resend, self.ack_due, linger, Some(self.next_ping())]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns the time of the next ping. A ping checks that a silent peer is alive, or whether a
    /// peer has opened its closed window.
    fn next_ping(&self) -> Duration {
        if self.pings == 0 {
            let quiet = self.options.keep_alive;
            let blocked = self.outgoing.is_blocked();
            return self.heard + if blocked { quiet.min(PROBE) } else { quiet };
        }
        self.pinged.max(self.heard) + self.outgoing.timeout() * (1 << self.pings.min(4))
    }

    /// Advances the machine's time to `now`, and handles the time-outs that are due.
    pub(super) fn tick(&mut self, now: Duration) {
        if self.over.is_some() {
            return;
        }
        let lingered = self.closed.map(|closed| closed + self.options.linger);
        if lingered.is_some_and(|end| end <= now) {
            self.over = Some(now);
            self.reset_wanted = true;
            return;
        }
        let waits = !matches!(self.end, Some(End::PeerClosed));
        let late = waits && self.outgoing.timer().is_some_and(|due| due <= now);
        if late && !self.outgoing.time_out(now, self.options.tries) {
            return self.fail(End::Silent, now);
        }
        if self.next_ping() <= now {
            if self.pings >= self.options.tries {
                return self.fail(End::Silent, now);
            }
            self.pings += 1;
            self.pinged = now;
            self.ping_wanted = true;
        }
    }
}
