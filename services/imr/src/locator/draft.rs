//! Records of one server that etcd should have, by this repository's state.

use punctual_host::store::StoreError;

use super::cluster::{Cluster, FAILED, Guard, LOCATOR, PROCESS, START, Write, encoded, key};
use super::engine::text_of;
use super::server::{Claim, Run, Server};
use super::state::State;
use crate::kept;

/// Changes of a server's records, and what they mean for the state when they are made.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) writes: Vec<Write>,
    pub(super) guards: Vec<Guard>,
    /// Id of the start that this repository makes from then on.
    claimed: Option<(u64, u64)>,
    /// True if that start was one of a repository that has died.
    is_taken_over: bool,
    /// Id of a failed start that all know of then.
    failed: Option<u64>,
}

impl Draft {
    /// Compares a server with the copy of its records. A start that another repository makes is taken note of.
    ///
    /// # Errors
    /// A record cannot be encoded; there are no random numbers.
    pub(super) fn of<W>(
        state: &mut State<W>,
        cluster: &Cluster,
        name: &str,
    ) -> Result<Self, StoreError> {
        let mut draft = Self::default();
        let State {
            servers,
            locators,
            is_ending,
            ..
        } = state;
        let Some(server) = servers.get_mut(name) else {
            return Ok(draft);
        };
        let process = process(server).map(encoded).transpose()?;
        let has_none = process.is_none();
        draft.put(cluster, PROCESS, name, process);

        let known: Option<kept::Start> = cluster.record(START, name);
        let failed = server.failed.clone();
        let wanted = match (&mut server.start, known) {
            (Some(start), known) => match start.claim.clone() {
                Claim::Alone => return Ok(draft),
                Claim::Wanted if start.is_held => known,
                Claim::Wanted => {
                    let other = known.as_ref().filter(|one| one.locator != cluster.own());
                    if let Some(other) = other.filter(|one| locators.contains(&one.locator)) {
                        start.claim = Claim::Elsewhere(other.id, other.locator.clone());
                        return Ok(draft);
                    }
                    let id = match other {
                        // Its process may have been started.
                        Some(other) => {
                            draft.guard(&other.locator, false);
                            draft.is_taken_over = true;
                            start.pid = start.pid.or(Some(other.pid).filter(|pid| *pid != 0));
                            other.id
                        }
                        None => getrandom::u64().map_err(StoreError::io)?,
                    };
                    draft.guard(cluster.own(), true);
                    if has_none && cluster.value(PROCESS, name).is_none() {
                        let (key, is_there) = (key(PROCESS, name), false);
                        draft.guards.push(Guard { key, is_there });
                    }
                    draft.claimed = Some((start.number, id));
                    Some(kept::Start {
                        id,
                        locator: cluster.own().to_owned(),
                        activator: start.activator.clone(),
                        pid: start.pid.unwrap_or_default(),
                    })
                }
                Claim::Own(id) | Claim::Elsewhere(id, _) => known.map(|known| kept::Start {
                    pid: match start.pid {
                        Some(pid) if known.id == id => pid,
                        _ => known.pid,
                    },
                    ..known
                }),
            },
            (None, Some(known)) => {
                let is_over = failed.as_ref().is_some_and(|failed| failed.id == known.id);
                let is_own = known.locator == cluster.own();
                stays(is_over, is_own, *is_ending).then_some(known)
            }
            (None, None) => None,
        };
        draft.put(cluster, START, name, wanted.map(encoded).transpose()?);
        if let Some(failed) = failed {
            draft.failed = Some(failed.id);
            draft.put(cluster, FAILED, name, Some(encoded(failed)?));
        }
        Ok(draft)
    }

    fn put(&mut self, cluster: &Cluster, table: &str, name: &str, value: Option<Vec<u8>>) {
        if cluster.value(table, name) != value {
            let key = key(table, name);
            self.writes.push(Write { key, value });
        }
    }

    fn guard(&mut self, locator: &str, is_there: bool) {
        let key = key(LOCATOR, locator);
        self.guards.push(Guard { key, is_there });
    }

    /// Takes note in the state that the changes were made.
    pub(super) fn made<W>(&self, state: &mut State<W>, name: &str) {
        let Some(server) = state.servers.get_mut(name) else {
            return;
        };
        if let (Some((number, id)), Some(start)) = (self.claimed, &mut server.start)
            && start.number == number
        {
            start.claim = Claim::Own(id);
            start.may_be_made |= self.is_taken_over;
        }
        let failed = self.failed;
        server.failed.take_if(|one| Some(one.id) == failed);
    }
}

/// Returns whether the record of a start stays that this repository does not know. An own one has had no effect, unless this
/// repository is about to end: then another one goes on with it, under its id, whose process may have been started already.
const fn stays(is_over: bool, is_own: bool, is_ending: bool) -> bool {
    !is_over && (!is_own || is_ending)
}

/// Returns the record of a server's process.
fn process<W>(server: &Server<W>) -> Option<kept::Process> {
    if let Some(run) = &server.run {
        return Some(running(run));
    }
    let leaving = server.leaving.as_ref()?;
    Some(kept::Process {
        is_leaving: true,
        pid: leaving.pid,
        activator: leaving.activator.clone(),
        ..kept::Process::default()
    })
}

/// Returns the record of a process that has registered.
pub(super) fn running(run: &Run) -> kept::Process {
    kept::Process {
        is_leaving: false,
        partial_ior: run.place.partial.clone(),
        server_object: run.place.object.as_ref().map(text_of).unwrap_or_default(),
        pid: run.pid.unwrap_or_default(),
        activator: run.activator.clone(),
        is_followed: run.is_followed,
        awaits_pid: run.awaits_pid,
        peer: run.peer.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_ends_leaves_its_starts_to_the_others() {
        assert!(!stays(false, true, false));
        assert!(stays(false, true, true));
        assert!(stays(false, false, false) && stays(false, false, true));
        assert!(!stays(true, true, true) && !stays(true, false, false));
    }
}
