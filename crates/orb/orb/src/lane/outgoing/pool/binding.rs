//! Binding of calls to connections.

use super::chosen;
use super::endpoint::Endpoint;
use crate::lane::outgoing::connection::ClientConnection;
use crate::policy::Mux;
use punctual_exec::Deadline;
use std::sync::{Arc, Weak};

/// Connection of a call, and the endpoint to which it was opened.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) connection: Arc<ClientConnection>,
    pub(crate) endpoint: Arc<Endpoint>,
    /// Claim of the connection, released with the binding, if the call has it exclusively.
    _claim: Option<Claim>,
}

/// Binding that a reference remembers. The lane owns the connection: a broken connection is dropped
/// even if references are bound to it.
#[derive(Debug)]
pub(crate) struct Bound {
    connection: Weak<ClientConnection>,
    endpoint: Arc<Endpoint>,
}

/// Exclusive use of a connection by one call, until dropped.
#[derive(Debug)]
struct Claim(Arc<ClientConnection>);

impl Claim {
    /// Claims a connection; returns `None` if another call has claimed it.
    fn of(connection: &Arc<ClientConnection>) -> Option<Self> {
        let is_claimed = connection.usability.claim();
        is_claimed.then(|| Self(connection.clone()))
    }

    fn connection(&self) -> &Arc<ClientConnection> {
        &self.0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.usability.release();
    }
}

impl Binding {
    /// Binds a call to a connection, shared with others or exclusively. Returns `None` if the
    /// connection is not usable, or another call has claimed it.
    pub(crate) fn to(
        connection: &Arc<ClientConnection>,
        endpoint: &Arc<Endpoint>,
        mux: Mux,
        deadline: Deadline,
    ) -> Option<Self> {
        match mux {
            Mux::Adaptive | Mux::Shared => {
                let chosen = chosen::instead_of(connection);
                let mut both = [&chosen, connection].into_iter();
                let usable = both.find(|one| one.is_usable(deadline))?;
                Some(Self::shared(usable.clone(), endpoint.clone()))
            }
            Mux::Exclusive => {
                let claim = Claim::of(connection)?;
                connection
                    .is_usable(deadline)
                    .then(|| Self::claimed(claim, endpoint.clone()))
            }
        }
    }

    /// Makes a binding to a connection that other calls may share.
    pub(crate) fn shared(connection: Arc<ClientConnection>, endpoint: Arc<Endpoint>) -> Self {
        Self {
            connection,
            endpoint,
            _claim: None,
        }
    }

    /// Makes a binding to a connection that this call uses exclusively.
    fn claimed(claim: Claim, endpoint: Arc<Endpoint>) -> Self {
        Self {
            connection: claim.connection().clone(),
            endpoint,
            _claim: Some(claim),
        }
    }

    /// Returns the binding in the form in which a reference remembers it.
    pub(crate) fn to_bound(&self) -> Bound {
        Bound {
            connection: Arc::downgrade(&self.connection),
            endpoint: self.endpoint.clone(),
        }
    }
}

impl Bound {
    /// Returns the remembered connection, if it still exists.
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.connection.upgrade()
    }

    /// Returns the endpoint to which the reference was bound.
    #[inline]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns a binding to this connection, which other calls may share, to the endpoint to which
    /// the reference was bound.
    pub(crate) fn binding_to(&self, connection: Arc<ClientConnection>) -> Binding {
        Binding::shared(connection, self.endpoint.clone())
    }

    /// Returns a binding for a call, if the connection still exists, is usable and is not claimed.
    pub(crate) fn binding(&self, mux: Mux, deadline: Deadline) -> Option<Binding> {
        Binding::to(&self.connection()?, &self.endpoint, mux, deadline)
    }
}
