//! Events in the file of one server, whose channels several servers are to have: they would be lost, as these servers
//! keep events elsewhere.

use std::path::Path;
use std::sync::Arc;

use punctual_durable::{DurableError, EventStore, FileOptions, FileStore, LogSettings};
use punctual_host::store::{SharedRecords, StoreError, StoreFile};

use super::store::prefix;
use crate::storage::{KIND, Kept};

/// Checks that a file has no events which consumers have yet to take. Blocks.
///
/// # Errors
/// It has some, of a channel that the error names; the file cannot be read.
pub(crate) fn check_left(path: &Path, shared: &dyn SharedRecords) -> Result<(), StoreError> {
    let file = Arc::new(StoreFile::open(path, KIND)?);
    let kept = Kept::read(&file)?;
    let prefix = prefix(file.identity());
    let store = FileStore::on(file, FileOptions::default()).map_err(failed)?;
    for name in store.log_names().map_err(failed)? {
        let number = name.as_str().strip_prefix(&prefix);
        let number = number.and_then(|number| number.parse::<u64>().ok());
        let channels = kept.channels.iter();
        let Some((number, channel)) = channels.clone().find(|one| Some(one.0) == number) else {
            continue;
        };
        let log = store.open_log(&name, LogSettings::default());
        let log = log.map_err(failed)?;
        let events = log.status().map_err(failed)?.events;
        if events > 0 {
            let named = kept.names.iter().find(|(of, _)| of == number);
            let named = named.map_or(String::new(), |(_, name)| format!(" ({name})"));
            let id = channel.id;
            return Err(StoreError::NoCopy {
                file: path.to_owned(),
                shared: shared.name(),
                reason: format!(
                    "{events} persistent events of channel {id}{named} are in the file, and would be lost; serve it \
                     without --cluster and --jetstream until consumers have taken them, or destroy the channel"
                ),
            });
        }
    }
    Ok(())
}

fn failed(error: DurableError) -> StoreError {
    match error {
        DurableError::Store(error) => error,
        other => StoreError::io(other),
    }
}
