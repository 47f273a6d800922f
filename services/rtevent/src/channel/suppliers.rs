//! Suppliers of a channel.

use super::observers::{Observers, Side};
use crate::dispatch::caught;
use crate::error::ConnectError;
use crate::liveness::Watched;
use crate::peer::{Reason, Reports, Selector, Supplier, SupplierId};
use crate::subscription::Publications;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Connected suppliers.
pub(super) struct Suppliers {
    state: Mutex<State>,
    most: usize,
    most_publications: usize,
}

#[derive(Default)]
struct State {
    all: BTreeMap<SupplierId, Arc<SupplierLink>>,
    next: u64,
    is_closed: bool,
}

/// Connection of a supplier.
pub(super) struct SupplierLink {
    pub(super) id: SupplierId,
    pub(super) supplier: Arc<dyn Supplier>,
    pub(super) watched: Watched,
    is_connected: AtomicBool,
    publications: Mutex<Publications>,
}

impl SupplierLink {
    #[inline]
    pub(super) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }
}

impl Suppliers {
    pub(super) fn new(most: usize, most_publications: usize) -> Self {
        Self {
            state: Mutex::default(),
            most,
            most_publications,
        }
    }

    pub(super) fn connect(
        &self,
        publications: Publications,
        supplier: Arc<dyn Supplier>,
        observers: &Observers,
    ) -> Result<Arc<SupplierLink>, ConnectError> {
        self.check(&publications)?;
        let offered = offered(&publications);
        let link = {
            let mut state = self.state.lock();
            if state.is_closed {
                return Err(ConnectError::Destroyed);
            }
            if state.all.len() >= self.most {
                return Err(ConnectError::Full {
                    what: "suppliers",
                    option: "most_suppliers",
                    limit: self.most,
                });
            }
            let link = Arc::new(SupplierLink {
                id: SupplierId(state.next),
                supplier,
                watched: Watched::default(),
                is_connected: AtomicBool::new(true),
                publications: Mutex::new(publications),
            });
            state.next += 1;
            state.all.insert(link.id, link.clone());
            link
        };
        observers.replace(Side::Suppliers, &[], &offered);
        Ok(link)
    }

    pub(super) fn change(
        &self,
        link: &SupplierLink,
        publications: Publications,
        observers: &Observers,
    ) -> Result<(), ConnectError> {
        self.check(&publications)?;
        let new = offered(&publications);
        let old = {
            // Under the lock of all, so that a disconnection comes before or after.
            let _state = self.state.lock();
            if !link.is_connected() {
                return Err(ConnectError::Disconnected);
            }
            std::mem::replace(&mut *link.publications.lock(), publications)
        };
        observers.replace(Side::Suppliers, &offered(&old), &new);
        Ok(())
    }

    /// Ends a connection; does nothing if it has ended.
    pub(super) fn end(
        &self,
        id: SupplierId,
        reason: &Reason,
        observers: &Observers,
        reports: Option<&dyn Reports>,
    ) {
        let link = {
            let mut state = self.state.lock();
            let Some(link) = state.all.remove(&id) else {
                return;
            };
            link.is_connected.store(false, Ordering::Release);
            link
        };
        let old = offered(&link.publications.lock());
        observers.replace(Side::Suppliers, &old, &[]);
        if *reason != Reason::Asked {
            caught(|| link.supplier.disconnected(reason));
        }
        if let Some(reports) = reports {
            caught(|| reports.supplier_disconnected(id, reason));
        }
    }

    /// Closes the set for further suppliers, and returns the present ones.
    pub(super) fn close(&self) -> Vec<SupplierId> {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.all.keys().copied().collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<SupplierLink>> {
        self.state.lock().all.values().cloned().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.state.lock().all.len()
    }

    fn check(&self, publications: &Publications) -> Result<(), ConnectError> {
        match publications.selectors.len() > self.most_publications {
            true => Err(ConnectError::Full {
                what: "publications of one supplier",
                option: "most_publications",
                limit: self.most_publications,
            }),
            false => Ok(()),
        }
    }
}

/// Returns the selectors that observers see.
fn offered(publications: &Publications) -> Vec<Selector> {
    match publications.is_gateway {
        true => Vec::new(),
        false => publications.selectors.clone(),
    }
}
