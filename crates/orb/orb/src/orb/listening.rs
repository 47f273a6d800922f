//! Protocols and endpoints of an ORB, which can be added and removed while it runs.

use super::handle::Orb;
use super::process;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::{LaneStatistics, PoolLane};
use crate::protocol::{ProtocolBundle, ProtocolCatalogue, ProtocolError};
use crate::server;
use punctual_link::LinkCount;
use std::collections::BTreeMap;

impl Orb {
    /// Starts to listen at the configured endpoints, if the ORB does not yet listen. For object
    /// adapters.
    ///
    /// # Errors
    /// INITIALIZE if the ORB cannot listen at an endpoint, BAD_INV_ORDER after a shutdown.
    pub fn listen(&self) -> Result<(), SystemException> {
        self.broker().check_running()?;
        // Before references are handed out, so that calls of the process find the ORB.
        let host = || {
            process::join(self);
            self.host()
        };
        let lanes = self.lanes();
        lanes.each_listening(|lane| server::listen(lane, host).map(drop))
    }

    /// Returns the endpoints at which the ORB listens, with their actual ports; empty before it
    /// listens.
    #[must_use]
    pub fn endpoints(&self) -> Vec<ListenEndpoint> {
        let lanes = self.lanes().all();
        lanes
            .flat_map(|lane| lane.incoming.endpoints.all())
            .collect()
    }

    /// Returns the statistics of each lane, the default one first.
    #[must_use]
    pub fn lane_statistics(&self) -> Vec<LaneStatistics> {
        self.lanes().all().map(|lane| lane.statistics()).collect()
    }

    /// Returns the links, adapters and messaging protocols that are registered now.
    #[must_use]
    pub fn protocol_catalogue(&self) -> ProtocolCatalogue {
        self.broker().protocols.now().catalogue()
    }

    /// Returns what the ORB's links have counted, by their names: what was lost, dropped or waits, for metrics. Only links
    /// that count something are among them.
    #[must_use]
    pub fn link_counts(&self) -> Vec<(String, Vec<LinkCount>)> {
        self.broker().protocols.now().link_counts()
    }

    /// Checks that a protocol can be used: its parts are registered, and its link guarantees what
    /// its messaging protocol needs. Returns its name in references.
    ///
    /// # Errors
    /// [`ProtocolError`], which says what is missing or incompatible.
    pub fn check_protocol(&self, protocol: &str) -> Result<String, ProtocolError> {
        let pair = self.broker().protocols.now().pair(protocol)?;
        Ok(pair.name.into())
    }

    /// Adds protocols while the ORB runs: either all of the bundle or, after an error, nothing.
    ///
    /// # Errors
    /// [`ProtocolError`] for a name that is already in use, and for an incompatible pair of
    /// messaging protocol and link.
    pub fn add_protocols(&self, bundle: &ProtocolBundle) -> Result<(), ProtocolError> {
        self.broker().protocols.add(bundle)
    }

    /// Retires a link, a messaging protocol or an adapter while the ORB runs. Endpoints that use it
    /// close; calls in progress over it, in either direction, finish; references continue with
    /// their other profiles, if they have any.
    ///
    /// # Errors
    /// [`ProtocolError`] if no protocol part has that name, or if the configuration's
    /// `client_protocols` name it.
    pub fn retire_protocol(&self, name: &str) -> Result<(), ProtocolError> {
        let config = self.config();
        self.broker().protocols.retire(name, |registry| {
            config.client_protocols.iter().try_for_each(|protocol| {
                let gone = registry.pair(protocol).err();
                gone.map_or(Ok(()), |error| {
                    Err(ProtocolError::InUse(name.to_owned(), error.to_string()))
                })
            })
        })?;
        self.lanes().all().for_each(|lane| lane.retire(name));
        Ok(())
    }

    /// Listens at one more endpoint while the ORB runs, and returns it with its actual address.
    /// References created from now on contain it.
    ///
    /// # Errors
    /// INITIALIZE if the ORB cannot listen there, BAD_INV_ORDER after a shutdown.
    pub fn add_endpoint(
        &self,
        endpoint: ListenEndpoint,
    ) -> Result<ListenEndpoint, SystemException> {
        self.listen()?;
        let lane = self.lanes().of_endpoint(&endpoint)?;
        server::listen(lane, || self.host())?;
        server::listen_at(lane, &self.host(), endpoint)
    }

    /// Adds a lane of a thread pool, which starts to listen. For crates that create thread pools
    /// (`punctual_rt`).
    ///
    /// # Errors
    /// INITIALIZE if it cannot listen, or its threads cannot be started; BAD_INV_ORDER after a
    /// shutdown.
    pub fn add_lane(&self, lane: PoolLane) -> Result<(), SystemException> {
        self.listen()?;
        let lane = self.lanes().add(lane);
        let listening = server::listen(&lane, || self.host());
        listening.map(drop).inspect_err(|_| lane.retire_all())
    }

    /// Makes the lanes of a thread pool stop listening, and sends CloseConnection to the clients
    /// that connected there; calls in progress finish. Returns `false` if the pool has no lanes in
    /// this ORB.
    pub fn retire_pool(&self, number: u32) -> bool {
        self.lanes().retire_pool(number)
    }

    /// Stops listening at an endpoint, which is given as it was configured or as [`Orb::endpoints`]
    /// returns it, and sends CloseConnection to the clients that connected there; their calls in
    /// progress finish. Returns `false` if the ORB does not listen there.
    pub fn retire_endpoint(&self, endpoint: &ListenEndpoint) -> bool {
        let mut lanes = self.lanes().all();
        lanes.any(|lane| lane.incoming.retire(endpoint))
    }

    /// Serves a connection on the calling thread until it ends, as if it had been accepted at an
    /// endpoint of this protocol. Returns `false` if there is no such endpoint. For fuzzing.
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    pub fn serve_here(
        &self,
        protocol: &str,
        link: std::sync::Arc<dyn punctual_link::Connection>,
    ) -> bool {
        let lane = self.lanes().default_lane();
        let at = lane.incoming.endpoints.find(protocol);
        if let Some(at) = &at {
            server::serve_here(lane, &self.host(), at, link);
        }
        at.is_some()
    }

    /// Returns the number of connected clients by the network device's queue by which their last data came (NAPI id of
    /// Linux). Clients by loopback, and by links without such queues, are not among them. Makes a system call for each.
    #[must_use]
    pub fn receive_queues(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for lane in self.lanes().all() {
            lane.incoming.connections.count_receive_queues(&mut counts);
        }
        counts
    }

    /// Returns the number of connected clients.
    #[must_use]
    pub fn client_connections(&self) -> usize {
        let lanes = self.lanes().all();
        lanes.map(|lane| lane.incoming.connections.len()).sum()
    }
}
