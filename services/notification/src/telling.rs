//! Calls that tell clients of changes of types: one at a time to each client, in the order of the changes.

use std::sync::Arc;

use crate::census::Changes;
use crate::client::{Client, Heard};
use crate::proxy::Proxy;

/// Proxy whose client hears of changes of types.
pub(crate) trait Listener: Send + Sync + 'static {
    fn base(&self) -> &Proxy;

    /// Tells the client of changes. `heard` is called with the outcome.
    fn tell(client: &Client, changes: &Changes, heard: Heard);
}

/// Tells a client of changes, if it wants to hear. Does not block.
pub(crate) fn tell<L: Listener>(listener: &Arc<L>, changes: &Changes) {
    let base = listener.base();
    if base.listener().is_some() && base.notices.lock().add(changes) {
        go_on(listener.clone());
    }
}

fn go_on<L: Listener>(listener: Arc<L>) {
    let checks = listener.base().common.checks.clone();
    checks.run(move || tell_next(listener));
}

fn tell_next<L: Listener>(listener: Arc<L>) {
    let next = listener.base().notices.lock().next();
    let Some(changes) = next else {
        return;
    };
    let Some(client) = listener.base().listener() else {
        return go_on(listener);
    };
    L::tell(
        &client,
        &changes,
        Box::new(move |has_ears| {
            if !has_ears {
                listener.base().note_deafness();
            }
            go_on(listener);
        }),
    );
}
