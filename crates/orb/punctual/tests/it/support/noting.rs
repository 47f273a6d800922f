//! TCP that notes from where messages are sent.

use punctual::protocol::iiop::Iiop;
use punctual::protocol::{
    Acceptor, Address, Connection, Deadline, Guarantees, Link, LinkError, Pending, Properties,
    SendError, Taken, Waitable,
};
use punctual::stub::Block;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};

/// TCP whose connections note where the parts of each message lay.
#[derive(Clone, Debug, Default)]
pub struct Noting {
    link: Iiop,
    parts: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Noting {
    /// Returns whether a part that was sent since the last question was this memory itself.
    pub fn sent(&self, octets: &[u8]) -> bool {
        self.sent_from((octets.as_ptr().addr(), octets.len()))
    }

    /// Returns whether a part that was sent since the last question lay at this address, with this length.
    pub fn sent_from(&self, place: (usize, usize)) -> bool {
        std::mem::take(&mut *self.parts.lock().unwrap()).contains(&place)
    }
}

impl Link for Noting {
    fn name(&self) -> &str {
        "iiop"
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
        Ok(Arc::new(NotingConnection {
            connection: self.link.connect(address, properties, deadline)?,
            parts: self.parts.clone(),
        }))
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        Ok(Box::new(NotingAcceptor {
            acceptor: self.link.listen(address, properties)?,
            parts: self.parts.clone(),
        }))
    }
}

#[derive(Debug)]
struct NotingAcceptor {
    acceptor: Box<dyn Acceptor>,
    parts: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Acceptor for NotingAcceptor {
    fn address(&self) -> &Address {
        self.acceptor.address()
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        Ok(Arc::new(NotingConnection {
            connection: self.acceptor.accept()?,
            parts: self.parts.clone(),
        }))
    }

    fn close(&self) {
        self.acceptor.close();
    }
}

#[derive(Debug)]
struct NotingConnection {
    connection: Arc<dyn Connection>,
    parts: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl NotingConnection {
    fn note(&self, parts: &[IoSlice<'_>]) {
        let places = parts.iter().map(|part| (part.as_ptr().addr(), part.len()));
        self.parts.lock().unwrap().extend(places);
    }
}

impl Connection for NotingConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.connection.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        self.note(parts);
        self.connection.send(parts, deadline)
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, SendError> {
        self.note(parts);
        self.connection.send_now(parts)
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
}
