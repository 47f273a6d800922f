//! Datagrams received as events of a channel.

use super::super::datagram::{Assembler, AssemblerOptions, Taken};
use super::super::link::UdpLink;
use super::counts::UdpCounts;
use super::socket::receiving;
use crate::Data;
use crate::received::Received;
use crate::wire::Form;
use parking_lot::Mutex;
use punctual::stub::{ByteOrder, Coding, Decoder};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use punctual_rtevent::SupplierHandle;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time after which a receiver notices that it shall end.
const LOOK: Duration = Duration::from_millis(100);

/// Largest datagram.
const LARGEST: usize = 65_536;

/// Receiver of datagrams, whose thread pushes their events into a channel.
pub(crate) struct Receiver {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    socket: UdpSocket,
    form: Form,
    supplier: SupplierHandle<Data>,
    received: Received,
    /// Addresses of this host's own senders, whose datagrams come back.
    own: Vec<SocketAddr>,
    ends: AtomicBool,
    assembler: Mutex<Assembler>,
    counts: Mutex<UdpCounts>,
}

impl Receiver {
    /// Starts a receiver.
    ///
    /// # Errors
    /// The socket cannot be made, the group not be joined, or the thread not be started.
    pub(crate) fn start(
        link: &UdpLink,
        form: Form,
        largest: usize,
        own: Vec<SocketAddr>,
        supplier: SupplierHandle<Data>,
    ) -> io::Result<Self> {
        let socket = receiving(link)?;
        socket.set_read_timeout(Some(LOOK))?;
        let options = AssemblerOptions {
            has_checksum: link.has_checksum,
            most_message: largest.saturating_add(1_024),
            ..AssemblerOptions::default()
        };
        let shared = Arc::new(Shared {
            socket,
            form,
            supplier,
            received: Received::default(),
            own,
            ends: AtomicBool::new(false),
            assembler: Mutex::new(Assembler::new(options)),
            counts: Mutex::default(),
        });
        let of_thread = shared.clone();
        let thread = ThreadSpec::named("events by udp").start(move || of_thread.run());
        let thread = thread.map_err(io::Error::other)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the UDP port of the receiver.
    pub(crate) fn port(&self) -> u16 {
        let address = self.shared.socket.local_addr();
        address.map_or(0, |address| address.port())
    }

    /// Returns the counts of received datagrams and messages.
    pub(crate) fn counts(&self) -> UdpCounts {
        let assembler = self.shared.assembler.lock();
        UdpCounts {
            datagrams: assembler.counts(),
            missing: assembler.missing(),
            ..*self.shared.counts.lock()
        }
    }
}

/// Ends the thread.
impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, that has been reported.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut buffer = vec![0; LARGEST];
        while !self.ends.load(Ordering::Relaxed) {
            let Ok((length, from)) = self.socket.recv_from(&mut buffer) else {
                // The time to look is over, or an ICMP answer has come.
                continue;
            };
            if self.own.contains(&from) {
                continue;
            }
            let datagram = buffer.get(..length).unwrap_or_default();
            let taken = self.assembler.lock().take(from, datagram);
            match taken {
                Taken::Message(order, message) => self.pass(order, &message),
                Taken::Bad(bad) => tracing::debug!("a datagram of {from} is ignored: {bad}"),
                _ => {}
            }
        }
    }

    fn pass(&self, order: ByteOrder, message: &[u8]) {
        let mut input = Decoder::new(message, order, Coding::default());
        let mut events = match self.received.read(self.form, &mut input) {
            Ok(events) => events,
            Err(exception) => {
                let unread = &mut self.counts.lock().unread;
                *unread += 1;
                if unread.is_power_of_two() {
                    tracing::warn!(
                        "{unread} messages by UDP were no events so far, the last one: {exception}"
                    );
                }
                return;
            }
        };
        self.form.stamp(&mut events);
        self.counts.lock().received += events.len() as u64;
        if let Err(error) = self.supplier.push(&events) {
            tracing::debug!("events by UDP are not taken: {error}");
        }
    }
}
