//! Channels' events sent as datagrams.

use super::super::crossing;
use super::super::datagram::{Fragments, split};
use super::super::link::UdpLink;
use super::counts::UdpCounts;
use super::pace::Pace;
use super::socket::sending;
use crate::wire::{Form, write_events};
use crate::{Data, Event};
use parking_lot::Mutex;
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual_rtevent::{Consumer, Pushed};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

/// Consumer of a channel that sends its events as datagrams: one message for each event, as TAO does.
pub(crate) struct Sender {
    link: UdpLink,
    form: Form,
    socket: UdpSocket,
    state: Mutex<State>,
}

struct State {
    pace: Pace,
    next: u32,
    counts: UdpCounts,
}

impl Sender {
    /// Makes a sender with a socket of its own.
    ///
    /// # Errors
    /// The socket cannot be made, or there is no route to the address.
    pub(crate) fn new(link: UdpLink, form: Form) -> io::Result<Self> {
        let state = State {
            pace: Pace::new(link.rate, Instant::now()),
            next: 0,
            counts: UdpCounts::default(),
        };
        Ok(Self {
            socket: sending(&link)?,
            link,
            form,
            state: Mutex::new(state),
        })
    }

    /// Returns the address that its datagrams come from.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Returns the counts of sent datagrams and messages.
    pub(crate) fn counts(&self) -> UdpCounts {
        self.state.lock().counts
    }

    fn send(&self, event: Event) -> Result<(), String> {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let written = write_events(self.form, &[event], None, &mut out);
        written.map_err(|error| error.to_string())?;
        let message = out.into_block();
        let mut state = self.state.lock();
        let number = state.next;
        state.next = number.wrapping_add(1);
        let (datagram, has_checksum) = (self.link.datagram, self.link.has_checksum);
        let fragments = split(
            number,
            ByteOrder::NATIVE,
            message.as_slice(),
            datagram,
            has_checksum,
        );
        let fragments = fragments.map_err(|error| error.to_string())?;
        self.send_all(fragments, &mut state.pace)
            .map_err(|error| error.to_string())
    }

    fn send_all(&self, fragments: Fragments<'_>, pace: &mut Pace) -> io::Result<()> {
        let mut datagram = Vec::with_capacity(self.link.datagram);
        for (head, fragment) in fragments {
            datagram.clear();
            datagram.extend_from_slice(&head);
            datagram.extend_from_slice(fragment);
            let wait = pace.wait(datagram.len(), Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
            self.send_one(&datagram)?;
        }
        Ok(())
    }

    /// Sends a datagram. A receiver that is not there yet is no error: an earlier datagram's ICMP answer is reported
    /// with this one, which is sent again.
    fn send_one(&self, datagram: &[u8]) -> io::Result<()> {
        match self.socket.send(datagram) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                match self.socket.send(datagram) {
                    Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => Err(error),
                    _ => Ok(()),
                }
            }
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}

impl Consumer<Data> for Sender {
    /// Sends the events that may cross. One that cannot be sent is counted: the link stays, whatever its network does.
    fn push(&self, events: &[Event]) -> Pushed {
        for event in crossing(events) {
            let sent = self.send(event);
            let counts = &mut self.state.lock().counts;
            match sent {
                Ok(()) => counts.sent += 1,
                Err(error) => {
                    counts.unsent += 1;
                    if counts.unsent.is_power_of_two() {
                        let (count, to) = (counts.unsent, self.link.address);
                        tracing::warn!(
                            "{count} events to udp://{to} were not sent so far, the last one: {error}"
                        );
                    }
                }
            }
        }
        Pushed::Done
    }
}
