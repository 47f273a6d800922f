//! Commits: the operations of all waiting threads, on all logs, in one transaction.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use punctual_host::commit::Commits;
use punctual_host::store::{StoreError, StoreFile};

use super::draft::Draft;
use super::log::Log;
use crate::contract::{Appended, DurableError, Moment, Name, NewEvent};

/// Operation that is performed with a commit.
#[derive(Debug)]
pub(super) enum Operation {
    CreateLog(Arc<Log>),
    RemoveLog(Arc<Log>),
    Append(Arc<Log>, Vec<NewEvent>),
    AddReader(Arc<Log>, Name),
    RemoveReader(Arc<Log>, Name),
    /// Writing of all acknowledgements, and deletion of what they have made superfluous.
    Settle(Vec<Arc<Log>>),
}

/// Outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Yes,
    /// There was nothing to do.
    No,
    Appended(Appended),
}

type Outcome = Result<Done, DurableError>;

/// File, and the operations that wait for its next commit.
pub(super) struct Core {
    pub(super) file: Arc<StoreFile>,
    commits: Commits<Operation, Outcome>,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

/// Changes of one commit to all logs, by their numbers.
#[derive(Debug)]
struct Drafts {
    logs: BTreeMap<u64, Draft>,
    now: Moment,
}

impl Core {
    pub(super) fn new(file: Arc<StoreFile>) -> Self {
        Self {
            file,
            commits: Commits::new(),
        }
    }

    /// Performs an operation, and returns when it is durable.
    pub(super) fn perform(&self, operation: Operation) -> Outcome {
        let lost = || Err(StoreError::damaged("a commit has failed").into());
        self.commits.submit(operation, |all| self.commit(all), lost)
    }

    fn commit(&self, operations: Vec<Operation>) -> Vec<Outcome> {
        let mut drafts = Drafts {
            logs: BTreeMap::new(),
            now: Moment::now(),
        };
        let outcomes = operations
            .into_iter()
            .map(|one| drafts.draft(one))
            .collect();
        let mut logs: Vec<Draft> = drafts.logs.into_values().collect();
        let written = self
            .file
            .commit(|batch| logs.iter_mut().try_for_each(|draft| draft.write(batch)));
        match written {
            Ok(()) => {
                logs.into_iter().for_each(Draft::apply);
                outcomes
            }
            Err(error) => refused(outcomes, &error),
        }
    }
}

/// Returns the outcomes of operations whose commit has failed.
fn refused(outcomes: Vec<Outcome>, error: &StoreError) -> Vec<Outcome> {
    let of = |outcome: Outcome| outcome.and_then(|_| Err(error.clone().into()));
    outcomes.into_iter().map(of).collect()
}

impl Drafts {
    fn draft(&mut self, operation: Operation) -> Outcome {
        match operation {
            Operation::CreateLog(log) => self.of(&log).create(),
            Operation::RemoveLog(log) => self.of(&log).remove(),
            Operation::Append(log, events) => {
                return self.of(&log).append(events).map(Done::Appended);
            }
            Operation::AddReader(log, name) => self.of(&log).add_reader(&name)?,
            Operation::RemoveReader(log, name) => {
                let is_removed = self.of(&log).remove_reader(&name)?;
                return Ok(if is_removed { Done::Yes } else { Done::No });
            }
            Operation::Settle(logs) => logs.iter().for_each(|log| self.of(log).settle()),
        }
        Ok(Done::Yes)
    }

    fn of(&mut self, log: &Arc<Log>) -> &mut Draft {
        let draft = self.logs.entry(log.number);
        draft.or_insert_with(|| Draft::new(log.clone(), self.now))
    }
}
