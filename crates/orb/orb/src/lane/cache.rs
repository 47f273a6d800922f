//! Outgoing connections, one for each endpoint.

use crate::client::Broken;
use crate::client::endpoint_select::Endpoint;
use crate::client::mux::ClientConnection;
use crate::messaging::Fragmenting;
use crate::orb::Orb;
use parking_lot::Mutex;
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::Deadline;
use punctual_link::{Address, LinkError, Phase, Properties};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Code sets belong to a connection (CORBA 3.3 part 2, §7.10.2.6), so they are part of the key.
type Key = (Box<str>, Address, GiopVersion, CodeSets, Properties);
/// Locked while its connection is being opened, so that two callers open one between them, and a
/// third, who goes elsewhere, waits for neither.
type Place = Arc<Mutex<Option<Arc<ClientConnection>>>>;

/// How often connections whose peers have closed are looked for, when another is opened.
const REAP: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ConnectionCache {
    places: Mutex<HashMap<Key, Place>>,
    reaped: Mutex<Option<Instant>>,
}

impl ConnectionCache {
    pub(super) fn connection(
        &self,
        orb: &Orb,
        endpoint: &Endpoint,
        properties: Properties,
        deadline: Deadline,
    ) -> Result<Arc<ClientConnection>, LinkError> {
        let key = (
            endpoint.pair.name.clone(),
            endpoint.address.clone(),
            endpoint.version,
            endpoint.code_sets,
            properties.clone(),
        );
        let place = self.places.lock().entry(key).or_default().clone();
        let locked = match deadline.end() {
            None => Some(place.lock()),
            Some(end) => place.try_lock_until(end),
        };
        let mut place = locked.ok_or_else(|| LinkError::timed_out(Phase::Connect))?;
        if let Some(connection) = place.as_ref().filter(|one| one.is_usable(deadline)) {
            return Ok(connection.clone());
        }
        *place = None;
        self.reap();
        let link = endpoint
            .pair
            .link
            .connect(&endpoint.address, &properties, deadline)?;
        let connection = Arc::new(ClientConnection::new(
            link,
            &endpoint.pair,
            (endpoint.version, endpoint.code_sets),
            orb.shared_limits(),
            Fragmenting::new(orb.config()),
            orb.tracer(),
        ));
        *place = Some(connection.clone());
        Ok(connection)
    }

    /// Lets go of connections that nobody uses and whose peers have closed, now and then, so that the
    /// descriptors of servers long gone do not add up.
    fn reap(&self) {
        {
            let mut reaped = self.reaped.lock();
            if reaped.is_some_and(|last| last.elapsed() < REAP) {
                return;
            }
            *reaped = Some(Instant::now());
        }
        self.places.lock().retain(|_, place| {
            // One that is locked is being opened, perhaps by this very thread.
            let Some(mut held) = place.try_lock() else {
                return true;
            };
            if held.as_ref().is_some_and(|one| !one.is_open()) {
                *held = None;
            }
            // Somebody else may have this place in hand, about to open it.
            held.is_some() || Arc::strong_count(place) > 1
        });
    }

    /// Takes the connections of retired protocols out; each closes when its last call has ended.
    pub(super) fn retire(&self, is_gone: impl Fn(&str) -> bool) {
        let gone: Vec<Place> = {
            let mut places = self.places.lock();
            let gone = places.extract_if(|(protocol, ..), _| is_gone(protocol));
            gone.map(|(_, place)| place).collect()
        };
        for place in gone {
            let connection = place.lock().take();
            if let Some(connection) = connection {
                connection.retire();
            }
        }
    }

    /// Sends what waits on every connection.
    pub(super) fn flush(&self, deadline: Deadline) {
        let places: Vec<Place> = self.places.lock().values().cloned().collect();
        for place in places {
            let connection = place.try_lock().and_then(|place| place.clone());
            if let Some(connection) = connection {
                connection.flush(deadline);
            }
        }
    }

    pub(super) fn close(&self) {
        let places = std::mem::take(&mut *self.places.lock());
        for place in places.into_values() {
            let place = place.lock().take();
            if let Some(connection) = place {
                connection.break_off(&Broken::off("the ORB has shut down"));
            }
        }
    }
}
