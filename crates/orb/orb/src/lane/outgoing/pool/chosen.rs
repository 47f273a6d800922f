//! Choice of a thread among several connections to one endpoint.
//!
//! A thread whose one-ways leave by a connection keeps to that one: a later message by another connection could overtake them.

use crate::lane::outgoing::connection::ClientConnection;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Most choices of a thread. Beyond that, choices are forgotten: first of connections that are gone, then those of threads that
/// do not keep to theirs.
const MOST: usize = 64;

/// Choice of one thread.
#[derive(Debug)]
struct Choice {
    /// The endpoint's number.
    endpoint: u64,
    connection: Weak<ClientConnection>,
    is_pinned: bool,
}

thread_local! {
    static CHOICES: RefCell<Vec<Choice>> = const { RefCell::new(Vec::new()) };
}

/// Returns the connection that the calling thread uses, in place of any to the same endpoint.
pub(crate) fn instead_of(connection: &Arc<ClientConnection>) -> Arc<ClientConnection> {
    let chosen = connection.membership.spreads.and_then(|endpoint| {
        with(endpoint, |choice| choice.connection.upgrade())
            .flatten()
            .filter(|chosen| chosen.may_be_used())
    });
    chosen.unwrap_or_else(|| connection.clone())
}

/// Makes the calling thread use this connection from now on.
pub(in crate::lane) fn choose(endpoint: u64, connection: &Arc<ClientConnection>) {
    note(endpoint, connection, false);
}

/// Makes the calling thread keep to this connection, as it sends one-ways by it.
pub(crate) fn pin(connection: &Arc<ClientConnection>) {
    if let Some(endpoint) = connection.membership.spreads {
        connection.membership.keep_to();
        note(endpoint, connection, true);
    }
}

/// Returns whether the calling thread keeps to the connection that it uses.
pub(in crate::lane) fn is_pinned(endpoint: u64) -> bool {
    // Nothing can be overtaken on a connection that is gone.
    let is_pinned = |choice: &Choice| choice.is_pinned && choice.connection.strong_count() > 0;
    with(endpoint, is_pinned).unwrap_or(false)
}

fn with<R>(endpoint: u64, read: impl FnOnce(&Choice) -> R) -> Option<R> {
    // A thread that ends has none any more.
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
