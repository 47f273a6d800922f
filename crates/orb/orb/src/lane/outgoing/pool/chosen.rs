//! Choice of a thread among several connections to one endpoint.
//!
//! A thread that sends one-ways keeps using one connection, as a later message over another
//! connection could overtake them.

use crate::lane::outgoing::connection::ClientConnection;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Maximum number of choices remembered by a thread. Beyond that, choices are forgotten: first
/// those of closed connections, then those that are not pinned.
const MOST: usize = 64;

/// Choice of one thread: the connection that it uses for an endpoint.
#[derive(Debug)]
struct Choice {
    /// Number of the endpoint to which the connection leads.
    endpoint: u64,
    connection: Weak<ClientConnection>,
    is_pinned: bool,
}

thread_local! {
    static CHOICES: RefCell<Vec<Choice>> = const { RefCell::new(Vec::new()) };
}

/// Returns the connection that the calling thread has chosen for the endpoint of `connection`;
/// `connection` itself if it has chosen none.
pub(crate) fn instead_of(connection: &Arc<ClientConnection>) -> Arc<ClientConnection> {
    let chosen = connection.membership.spreads.and_then(|endpoint| {
        with(endpoint, |choice| choice.connection.upgrade())
            .flatten()
            .filter(|chosen| chosen.may_be_used())
    });
    chosen.unwrap_or_else(|| connection.clone())
}

/// Makes the calling thread use this connection to the endpoint from now on.
pub(in crate::lane) fn choose(endpoint: u64, connection: &Arc<ClientConnection>) {
    note(endpoint, connection, false);
}

/// Pins the calling thread to this connection, as it sends one-ways over it.
pub(crate) fn pin(connection: &Arc<ClientConnection>) {
    if let Some(endpoint) = connection.membership.spreads {
        connection.membership.keep_to();
        note(endpoint, connection, true);
    }
}

/// Returns `true` if the calling thread is pinned to the connection that it uses for the endpoint.
pub(in crate::lane) fn is_pinned(endpoint: u64) -> bool {
    // Nothing can be overtaken on a closed connection.
    let is_pinned = |choice: &Choice| choice.is_pinned && choice.connection.strong_count() > 0;
    with(endpoint, is_pinned).unwrap_or(false)
}

fn with<R>(endpoint: u64, read: impl FnOnce(&Choice) -> R) -> Option<R> {
    // A thread that is ending has no choices left.
    let found = CHOICES.try_with(|choices| {
        let choices = choices.borrow();
        let choice = choices.iter().find(|choice| choice.endpoint == endpoint);
        choice.map(read)
    });
    found.ok().flatten()
}

fn note(endpoint: u64, connection: &Arc<ClientConnection>, is_pinned: bool) {
    let _ = CHOICES.try_with(|choices| {
        let mut choices = choices.borrow_mut();
        let known = choices
            .iter_mut()
            .find(|choice| choice.endpoint == endpoint);
        if let Some(choice) = known {
            choice.connection = Arc::downgrade(connection);
            choice.is_pinned |= is_pinned;
            return;
        }
        if choices.len() >= MOST {
            choices.retain(|choice| choice.connection.strong_count() > 0);
            if let Some(place) = choices.iter().position(|choice| !choice.is_pinned) {
                choices.remove(place);
            }
        }
        choices.push(Choice {
            endpoint,
            connection: Arc::downgrade(connection),
            is_pinned,
        });
    });
}
