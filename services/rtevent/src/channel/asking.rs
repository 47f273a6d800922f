//! Questions to peers whether they are alive.

use super::core::Core;
use super::suppliers::SupplierLink;
use crate::dispatch::{Link, Task, caught};
use crate::event::Payload;
use crate::liveness::Watched;
use crate::peer::{Alive, Reason};
use crate::statistics::ConnectionState;
use std::sync::{Arc, Weak};

/// Question to one peer.
struct Question<P: Payload> {
    peer: Peer<P>,
    core: Weak<Core<P>>,
}

#[derive(Clone)]
enum Peer<P> {
    Consumer(Arc<Link<P>>),
    Supplier(Arc<SupplierLink>),
}

impl<P: Payload> Core<P> {
    /// Asks all peers. One whose question before waits, or is not answered, is not asked again meanwhile.
    pub(super) fn ask_all(&self) {
        let consumers = self.table.all().into_iter();
        let consumers = consumers.map(|one| Peer::Consumer(one.connection.link.clone()));
        let suppliers = self.suppliers.all().into_iter().map(Peer::Supplier);
        for peer in consumers.chain(suppliers) {
            self.ask(peer);
        }
    }

    fn ask(&self, peer: Peer<P>) {
        let Some(control) = &self.control else {
            return;
        };
        match peer.watched().begin_round() {
            true => control.execute(Arc::new(Question {
                peer,
                core: self.own.clone(),
            })),
            false => self.end_if_dead(&peer),
        }
    }

    fn end_if_dead(&self, peer: &Peer<P>) {
        let Some(control) = &self.control else {
            return;
        };
        if !peer.watched().is_dead(control.liveness.most_unanswered) {
            return;
        }
        match peer {
            Peer::Consumer(link) => self.end_consumer(link.id, &Reason::NotAlive),
            Peer::Supplier(link) => self.end_supplier(link.id, &Reason::NotAlive),
        }
    }
}

impl<P: Payload> Task for Question<P> {
    fn run(&self) -> bool {
        if !self.peer.is_connected() {
            return false;
        }
        self.peer.watched().ask();
        let answer = caught(|| match &self.peer {
            Peer::Consumer(link) => link.consumer.is_alive(),
            Peer::Supplier(link) => link.supplier.is_alive(),
        });
        self.peer.watched().end(answer.unwrap_or(Alive::Unknown));
        if let Some(core) = self.core.upgrade() {
            core.end_if_dead(&self.peer);
        }
        false
    }
}

impl<P> Peer<P> {
    fn watched(&self) -> &Watched {
        match self {
            Self::Consumer(link) => &link.watched,
            Self::Supplier(link) => &link.watched,
        }
    }

    fn is_connected(&self) -> bool {
        match self {
            Self::Consumer(link) => link.state() != ConnectionState::Disconnected,
            Self::Supplier(link) => link.is_connected(),
        }
    }
}
