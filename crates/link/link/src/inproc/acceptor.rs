//! Listening on a network inside the process.

use super::address::NAME;
use super::network::Network;
use super::queue::Queue;
use crate::{Acceptor, Address, Connection, LinkError, Phase};
use std::sync::Arc;

#[derive(Debug)]
struct InprocAcceptor {
    network: Arc<Network>,
    queue: Arc<Queue>,
    address: Address,
}

/// Listens at the name `place`, or at one that the network chooses if it is empty.
pub(super) fn listen(network: &Arc<Network>, place: &str) -> Result<Box<dyn Acceptor>, LinkError> {
    let (place, queue) = network.listen(place)?;
    Ok(Box::new(InprocAcceptor {
        network: network.clone(),
        queue,
        address: Address::new(NAME, &place),
    }))
}

impl Acceptor for InprocAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let next = self.queue.take();
        Ok(next.ok_or_else(|| LinkError::closed(Phase::Accept))?)
    }

    fn close(&self) {
        self.network
            .stop_listening(self.address.place(), &self.queue);
        self.queue.close();
    }
}

impl Drop for InprocAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}
