//! Clients that acquire and release names, and a record of what they know about the results.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use punctual::{OperationError, Orb};
use punctual_naming::cos_naming::{NamingContext, NamingContextBindError};

use crate::naming_etcd::support::{name, object};

/// Period during which a client certainly held a name.
#[derive(Debug)]
pub(crate) struct Held {
    id: String,
    from: Instant,
    until: Instant,
}

/// Combined knowledge of all clients.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) held: Mutex<Vec<Held>>,
    /// Objects that may or may not be bound, as the server did not answer.
    unknown: Mutex<HashSet<usize>>,
    pub(crate) taken: AtomicUsize,
    pub(crate) refused: AtomicUsize,
    pub(crate) unsaid: AtomicUsize,
    /// Names that were unbound although their holders had not released them.
    lost: Mutex<Vec<String>>,
}

impl History {
    /// Checks that no name had two holders at the same time.
    pub(crate) fn check(&self) -> usize {
        assert_eq!(*self.lost.lock().unwrap(), [""; 0]);
        let mut of_names: HashMap<&str, Vec<&Held>> = HashMap::new();
        let held = self.held.lock().unwrap();
        for one in held.iter() {
            of_names.entry(&one.id).or_default().push(one);
        }
        for held in of_names.values_mut() {
            held.sort_by_key(|one| one.from);
            for pair in held.windows(2) {
                assert!(pair[0].until <= pair[1].from, "two holders: {pair:?}");
            }
        }
        held.len()
    }

    /// Unbinds a name that is bound to an object of unknown state. One thread at a time, so that
    /// none unbinds a later binding of another thread.
    pub(crate) fn clean(&self, orb: &Orb, root: &NamingContext, id: &str) {
        let mut unknown = self.unknown.lock().unwrap();
        let Ok(Some(found)) = root.resolve(&name(id)) else {
            return;
        };
        let number = unknown.iter().copied();
        let number = number
            .into_iter()
            .find(|number| found.is_equivalent(&object(orb, *number)));
        if let Some(number) = number
            && root.unbind(&name(id)).is_ok()
        {
            unknown.remove(&number);
        }
    }
}

/// Acquires and releases names, as one of many clients, until `ends` is set; switches to the next
/// server when one fails.
pub(crate) fn take_and_give(
    orb: &Orb,
    roots: &[NamingContext],
    client: usize,
    history: &History,
    ends: &AtomicBool,
) {
    let mut at = client;
    for step in 0.. {
        if ends.load(Ordering::Relaxed) {
            return;
        }
        let root = &roots[at % roots.len()];
        let (id, number) = (format!("name{}", step % 3), client * 1_000_000 + step);
        match root.bind(&name(&id), Some(&object(orb, number))) {
            Ok(()) => {}
            Err(NamingContextBindError::AlreadyBound(_)) => {
                history.refused.fetch_add(1, Ordering::Relaxed);
                history.clean(orb, root, &id);
                continue;
            }
            Err(_) => {
                history.unsaid.fetch_add(1, Ordering::Relaxed);
                history.unknown.lock().unwrap().insert(number);
                at += 1;
                continue;
            }
        }
        let from = Instant::now();
        history.taken.fetch_add(1, Ordering::Relaxed);
        // Time in which others try. The answer may be out of date.
        let _ = roots[at % roots.len()].resolve(&name(&id));
        let until = Instant::now();
        history.held.lock().unwrap().push(Held {
            id: id.clone(),
            from,
            until,
        });
        // By a server other than the one it was bound by.
        at += 1;
        if let Err(error) = roots[at % roots.len()].unbind(&name(&id)) {
            if error.system().is_none() {
                history.lost.lock().unwrap().push(format!("{id}: {error}"));
            }
            history.unsaid.fetch_add(1, Ordering::Relaxed);
            history.unknown.lock().unwrap().insert(number);
        }
    }
}
