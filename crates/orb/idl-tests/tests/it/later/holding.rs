//! TCP link that holds back messages that may be followed by more, until they are pushed or another is
//! sent. TCP itself would send them after 200 ms.

use punctual::protocol::iiop::Iiop;
use punctual::protocol::{
    Acceptor, Address, Connection, Deadline, Gatherer, Guarantees, Link, LinkError, Pending,
    Properties, SendError, Taken, Waitable,
};
use punctual::stub::Block;
use std::io::IoSlice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Link, and the number of messages that were held back.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    link: Iiop,
    messages: Arc<AtomicUsize>,
}

impl Holding {
    /// Returns the number of messages that were held back so far.
    pub(super) fn messages(&self) -> usize {
        self.messages.load(Ordering::Relaxed)
    }
}

impl Link for Holding {
    fn name(&self) -> &'static str {
        "holding"
    }

    fn guarantees(&self) -> Guarantees {
        self.link.guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        Ok(Arc::new(HoldingConnection {
            connection: self.link.connect(address, properties, deadline)?,
            held: Mutex::default(),
            messages: self.messages.clone(),
        }))
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        self.link.listen(address, properties)
    }
}

#[derive(Debug)]
struct HoldingConnection {
    connection: Arc<dyn Connection>,
    held: Mutex<Vec<u8>>,
    messages: Arc<AtomicUsize>,
}

impl Connection for HoldingConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.connection.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        // Locked while it sends: a message may be pushed meanwhile.
        let mut held = self.held.lock().unwrap();
        let all: Vec<_> = std::iter::once(&held[..])
            .chain(parts.iter().map(|part| &**part))
            .map(IoSlice::new)
            .collect();
        let sent = self.connection.send(&all, deadline);
        held.clear();
        sent
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        self.connection.receive(block, need, deadline)
    }

    fn serves_without_blocking(&self) -> bool {
        self.connection.serves_without_blocking()
    }

    fn receive_now(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        self.connection.receive_now(block, need)
    }

    fn pending(&self) -> Pending {
        self.connection.pending()
    }

    fn close(&self) {
        self.connection.close();
    }

    fn peer(&self) -> &Address {
        self.connection.peer()
    }

    fn local(&self) -> &Address {
        self.connection.local()
    }

    fn waitable(&self) -> Waitable<'_> {
        self.connection.waitable()
    }

    fn gatherer(&self) -> Option<&dyn Gatherer> {
        Some(self)
    }
}

impl Gatherer for HoldingConnection {
    fn send_before_more(&self, parts: &[IoSlice<'_>], _: Deadline) -> Result<(), SendError> {
        let mut held = self.held.lock().unwrap();
        parts.iter().for_each(|part| held.extend_from_slice(part));
        self.messages.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn push(&self) {
        // A failure is reported by the next send.
        let _ = self.send(&[], Deadline::NEVER);
    }
}
