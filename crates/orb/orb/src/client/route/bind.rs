//! Binding a call to a connection: along the remembered path, or to the first endpoint that can be reached.

use super::Route;
use crate::client::failure::{Failure, exhausted, must_rebind};
use crate::client::remote::Callee;
use crate::exception::SystemException;
use crate::fixed_context::CallPolicies;
use crate::lane::{Back, Binding, ConnectionTerms, Endpoint, ServedBack, ServesBack, chosen};
use crate::policy::{Bidirectional, Rebind};
use crate::priority::Priority;
use punctual_exec::Deadline;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// `true` if the connection is private to the reference, and its band of priorities, if it has one.
type Exclusiveness = (bool, Option<RangeInclusive<Priority>>);

impl Route {
    /// Returns a connection to the current endpoint, or to the first later one that can be reached. Blocks while a
    /// connection is set up.
    ///
    /// # Errors
    /// When no endpoint is left: TRANSIENT, or the failure of the only endpoint.
    pub(in crate::client) fn bind(
        &mut self,
        callee: &Callee<'_>,
        deadline: Deadline,
    ) -> Result<Binding, SystemException> {
        if let Some(binding) = self.bind_by_path(deadline)? {
            return Ok(self.bound(binding));
        }
        callee.broker().check_not_over()?;
        self.expand(callee);
        while let Some(endpoint) = self.next_endpoint(callee) {
            if let Some(setting) = self.allowance.exhausted_by() {
                self.failures.push(Failure::NoMore(setting));
                break;
            }
            match self.connect(callee, &endpoint, deadline) {
                Ok(binding) => return Ok(self.bound(binding)),
                Err(failure) => self.failures.push(failure),
            }
            if self.is_held {
                break;
            }
            self.allowance.spend_try();
            self.levels.next_endpoint();
        }
        Err(exhausted(&mut self.failures, deadline))
    }

    /// Binds the call to the connection of the remembered path; returns `None` if that is closed,
    /// or the call uses the lists of endpoints.
    fn bind_by_path(&self, deadline: Deadline) -> Result<Option<Binding>, SystemException> {
        if !self.levels.is_empty() {
            return Ok(None);
        }
        let path = self.path.as_ref();
        let warm = path.and_then(|path| path.bound.binding(self.effective.mux, deadline));
        let warm = warm.filter(|warm| !self.two_way || warm.connection.wire.abilities.two_way);
        if warm.is_none() && self.is_held && self.effective.rebind == Rebind::NoReconnect {
            return Err(must_rebind("the connection has ended"));
        }
        Ok(warm)
    }

    /// Returns the endpoint to try now. When all have failed, the call starts again at the original reference, if it
    /// may.
    fn next_endpoint(&mut self, callee: &Callee<'_>) -> Option<Arc<Endpoint>> {
        loop {
            self.levels.leave_exhausted();
            if let Some(endpoint) = self.levels.endpoint() {
                return Some(endpoint.clone());
            }
            if !self.restart(callee) {
                return None;
            }
        }
    }

    /// Sets up a connection to one endpoint, or returns an existing one.
    fn connect(
        &mut self,
        callee: &Callee<'_>,
        endpoint: &Arc<Endpoint>,
        deadline: Deadline,
    ) -> Result<Binding, Failure> {
        let target = self.levels.target();
        if let Some(connection) = target.and_then(|target| target.way_back(endpoint)) {
            return Ok(Binding::shared(connection, endpoint.clone()));
        }
        let (is_private, band) = self.exclusiveness(callee, endpoint);
        let wanted = self.wanted(callee, endpoint, (is_private, band.clone()));
        // Each endpoint has a term of its own, so that one that does not answer leaves the others theirs.
        let timeouts = &callee.broker().config().timeouts;
        let term = Deadline::after_optional(self.effective.connect.or(timeouts.connect));
        let until = deadline.earlier(term).earlier(self.allowance.deadline());
        let began = Instant::now();
        let bound = callee.lane.bind(endpoint, wanted, until);
        let bound = bound.map_err(|error| Failure::Link(endpoint.address.clone(), error));
        if let Ok(binding) = &bound
            && is_private
        {
            callee.object.owns(&binding.connection);
        }
        let bound = bound.and_then(|binding| match &band {
            Some(band) => self.bind_to_band(callee, binding, band, until),
            None => Ok(binding),
        });
        self.allowance.spend_time_since(began);
        bound
    }

    /// Returns the requirements on the connection to this endpoint.
    fn wanted(
        &self,
        callee: &Callee<'_>,
        endpoint: &Endpoint,
        (is_private, band): Exclusiveness,
    ) -> ConnectionTerms {
        ConnectionTerms {
            private_to: is_private.then(|| callee.object.number()),
            band,
            back: self.served_back(callee),
            properties: self.effective.properties(endpoint.pair.link.name()),
            mux: self.effective.mux,
            wait: self.effective.wait,
        }
    }

    fn exclusiveness(&self, callee: &Callee<'_>, endpoint: &Endpoint) -> Exclusiveness {
        let Some(known) = &callee.broker().priorities else {
            return (false, None);
        };
        let policies = CallPolicies(&self.effective);
        // If policies allow no destination, there are no endpoints.
        let destination = known.destination(policies, callee.lane.priority()).ok();
        let band = destination.and_then(|it| it.band_to(endpoint.qualities.priority));
        (known.is_private(policies), band)
    }

    /// Returns the dispatcher for requests that the server sends back over the connection
    /// (bidirectional GIOP), if they are to be served.
    fn served_back(&self, callee: &Callee<'_>) -> Option<Arc<dyn ServesBack>> {
        let back = callee.broker().back.get();
        let is_served = Bidirectional::IS_BUILT_IN && self.effective.bidirectional;
        let by = back.filter(|_| is_served)?;
        Some(Arc::new(ServedBack {
            by: by.clone().downcast::<Back>().ok()?,
            lane: callee.lane.clone(),
        }))
    }

    /// Assigns the calling thread to the connection over which its one-ways are sent, so that they
    /// stay in order.
    fn bound(&self, binding: Binding) -> Binding {
        if !self.two_way {
            chosen::pin(&binding.connection);
        }
        binding
    }
}
