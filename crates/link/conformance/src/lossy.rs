//! Datagram link that loses, repeats and reorders datagrams, the same way each time.

use punctual_cdr::{Block, Lender};
use punctual_exec::Deadline;
use punctual_link::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Loan, Pending, Properties,
    SendError, Waitable,
};
use std::io::IoSlice;
use std::sync::{Arc, Mutex};

/// Frequencies of simulated faults, per thousand datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Number of datagrams lost, per thousand.
    pub lose: u32,
    /// Number of datagrams sent twice, per thousand.
    pub repeat: u32,
    /// Number of datagrams sent after the following one, per thousand.
    pub reorder: u32,
    /// Seed of the pseudo-random sequence: the same seed gives the same faults.
    pub seed: u64,
}

/// Datagram link that simulates faults in both directions.
#[derive(Clone, Debug)]
pub struct Lossy {
    link: Arc<dyn Link>,
    faults: Faults,
}

impl Lossy {
    /// Makes a link that adds simulated faults to another datagram link.
    #[must_use]
    pub fn new(link: Arc<dyn Link>, faults: Faults) -> Self {
        Self { link, faults }
    }

    /// Wraps a connection, so that its sends are subject to simulated faults.
    #[must_use]
    pub fn connection(connection: Arc<dyn Connection>, faults: Faults) -> Arc<dyn Connection> {
        Arc::new(LossyConnection {
            connection,
            faults,
            fate: Mutex::new(Fate {
                chance: faults.seed,
                held: None,
            }),
        })
    }
}

impl Link for Lossy {
    fn name(&self) -> &str {
        self.link.name()
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
        let connection = self.link.connect(address, properties, deadline)?;
        Ok(Self::connection(connection, self.faults))
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        Ok(Box::new(LossyAcceptor {
            acceptor: self.link.listen(address, properties)?,
            faults: self.faults,
        }))
    }
}

#[derive(Debug)]
struct LossyAcceptor {
    acceptor: Box<dyn Acceptor>,
    faults: Faults,
}

impl Acceptor for LossyAcceptor {
    fn address(&self) -> &Address {
        self.acceptor.address()
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        Ok(Lossy::connection(self.acceptor.accept()?, self.faults))
    }

    fn close(&self) {
        self.acceptor.close();
    }
}

#[derive(Debug)]
struct LossyConnection {
    connection: Arc<dyn Connection>,
    faults: Faults,
    fate: Mutex<Fate>,
}

#[derive(Debug)]
struct Fate {
    chance: u64,
    held: Option<Vec<u8>>,
}

impl Fate {
    /// Returns `true` in `often` of a thousand calls (splitmix64).
    fn strikes(&mut self, often: u32) -> bool {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % 1000 < u64::from(often)
    }
}

impl Connection for LossyConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.connection.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let mut fate = self.fate.lock().unwrap();
        let lost = fate.strikes(self.faults.lose);
        let repeated = fate.strikes(self.faults.repeat);
        let held = fate.strikes(self.faults.reorder);
        let due = fate.held.take();
        if held && !lost {
            let whole = parts.iter().flat_map(|part| part.iter().copied());
            fate.held = Some(whole.collect());
        }
        drop(fate);
        if !lost && !held {
            self.connection.send(parts, deadline)?;
        }
        if repeated && !lost && !held {
            self.connection.send(parts, deadline)?;
        }
        if let Some(due) = due {
            self.connection.send(&[IoSlice::new(&due)], deadline)?;
        }
        Ok(())
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        self.connection.receive(block, need, deadline)
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

    fn lender(&self) -> Option<&dyn Lender> {
        self.connection.lender()
    }

    fn loan(&self, length: usize) -> Option<Loan> {
        self.connection.loan(length)
    }
}
