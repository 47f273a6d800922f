//! Operations, dependencies and the schedule in a file.
//!
//! | table | key | value |
//! |---|---|---|
//! | `operations` | handle | operation |
//! | `dependencies` | number | dependency |
//! | `schedule` | 0 | dispatching queues of the last schedule |

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{Cdr, Records, StoreError, StoreFile, StoreKind};

use crate::kept::{Operation, Schedule};
use crate::rtec_base::DependencyInfo;
use crate::rtec_scheduler::HandleT;
use crate::state::{Changes, Dependency, State};

const OPERATIONS: Records<HandleT, Cdr<Operation>> = Records::named("operations");
const DEPENDENCIES: Records<u64, Cdr<DependencyInfo>> = Records::named("dependencies");
const SCHEDULE: Records<u64, Cdr<Schedule>> = Records::named("schedule");

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("scheduler", 1);

/// Store file of a scheduler.
#[derive(Debug)]
pub(crate) struct Storage(StoreFile);

type Result<T> = std::result::Result<T, StoreError>;

impl Storage {
    /// Opens a file, which is created if need be.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(StoreFile::open(path, KIND)?))
    }

    /// Opens a file on a disk with injected faults.
    #[cfg(feature = "faults")]
    pub(crate) fn open_with_faults(path: &Path, faults: Faults) -> Result<Self> {
        Ok(Self(StoreFile::open_with_faults(path, KIND, faults)?))
    }

    /// Reads the whole state.
    pub(crate) fn read(&self) -> Result<State> {
        let mut changes = Changes::default();
        self.0.read(|transaction| {
            OPERATIONS.read(transaction, |handle, Cdr(operation)| {
                changes.operations.insert(handle, Arc::new(operation));
                Ok(())
            })?;
            DEPENDENCIES.read(transaction, |number, Cdr(info)| {
                let dependency = Dependency::of_info(&info, number);
                changes.dependencies.insert(dependency, Some(info.enabled));
                Ok(())
            })?;
            let schedule = SCHEDULE.values(transaction)?.pop();
            changes.queues = schedule.map(|Cdr(schedule)| schedule.queues);
            Ok(())
        })?;
        let mut state = State::default();
        state.apply(changes);
        Ok(state)
    }

    /// Writes changes, all or nothing.
    pub(crate) fn write(&self, changes: &Changes) -> Result<()> {
        self.0.commit(|batch| {
            let mut operations = batch.records(OPERATIONS)?;
            for (&handle, operation) in &changes.operations {
                operations.put(handle, &Cdr((**operation).clone()))?;
            }
            let mut dependencies = batch.records(DEPENDENCIES)?;
            for (dependency, state) in &changes.dependencies {
                match state {
                    Some(state) => {
                        dependencies.put(dependency.number, &Cdr(dependency.info(*state)))?;
                    }
                    None => dependencies.remove(dependency.number)?,
                }
            }
            if let Some(queues) = changes.queues.clone() {
                batch.put(SCHEDULE, 0, &Cdr(Schedule { queues }))?;
            }
            Ok(())
        })
    }

    /// Returns the length of the store file in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.0.bytes()
    }

    /// Returns unused pages of the file to the file system.
    pub(crate) fn compact(&self) -> Result<bool> {
        self.0.compact()
    }
}
