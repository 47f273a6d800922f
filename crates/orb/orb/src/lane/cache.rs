//! Outgoing connections, one for each endpoint.

use crate::client::Broken;
use crate::client::endpoint_select::Endpoint;
use crate::client::mux::ClientConnection;
use crate::messaging::Fragmenting;
use crate::orb::Orb;
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::Deadline;
use punctual_link::{Address, LinkError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Code sets belong to a connection (CORBA 3.3 part 2, §7.10.2.6), so they are part of the key.
type Key = (Address, GiopVersion, CodeSets);
/// Locked while its connection is being opened, so that two callers open one between them, and a
/// third, who goes elsewhere, waits for neither.
type Place = Arc<Mutex<Option<Arc<ClientConnection>>>>;

#[derive(Debug, Default)]
pub(super) struct ConnectionCache {
    places: Mutex<HashMap<Key, Place>>,
}

impl ConnectionCache {
    pub(super) fn connection(
        &self,
        orb: &Orb,
        endpoint: &Endpoint,
        deadline: Deadline,
    ) -> Result<Arc<ClientConnection>, LinkError> {
        let key = (
            endpoint.address.clone(),
            endpoint.version,
            endpoint.code_sets,
        );
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.entry(key).or_default().clone()
        };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = place.as_ref().filter(|connection| connection.is_usable()) {
            return Ok(connection.clone());
        }
        *place = None;
        let link = orb.link().connect(&endpoint.address, deadline)?;
        let connection = Arc::new(ClientConnection::new(
            link,
            endpoint.version,
            endpoint.code_sets,
            orb.shared_limits(),
            Fragmenting::new(orb.config()),
            orb.tracer(),
        ));
        *place = Some(connection.clone());
        Ok(connection)
    }

    pub(super) fn close(&self) {
        let places =
            std::mem::take(&mut *self.places.lock().unwrap_or_else(PoisonError::into_inner));
        for place in places.into_values() {
            let place = place.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(connection) = place {
                let reason = "the ORB has shut down".into();
                connection.break_off(&Broken {
                    orderly: false,
                    reason,
                });
            }
        }
    }
}
