//! File that outlives the manager: the list of alarms, and the reference to the connection.

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::path::Path;

use punctual_example_alarms::Alarm;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// Contents of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    /// Reference to the proxy; empty in the first run.
    pub(crate) reference: String,
    /// Filter that the proxy was given.
    pub(crate) filter: Option<String>,
    pub(crate) grammar: String,
    pub(crate) alarms: Vec<Alarm>,
    /// Latest ids of notifications.
    pub(crate) ids: Vec<String>,
}

impl Kept {
    /// Reads the file; nothing is kept before the first run.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let failed = |error: &dyn Error| format!("--state {}: {error}", path.display());
        match std::fs::read(path) {
            Ok(text) => Ok(serde_json::from_slice(&text).map_err(|error| failed(&error))?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(failed(&error).into()),
        }
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
        let write = || -> std::io::Result<()> {
            let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.as_file().sync_all()?;
            file.persist(path).map(drop).map_err(|error| error.error)
        };
        Ok(write().map_err(|error| format!("--state {}: {error}", path.display()))?)
    }

    /// Returns whether the proxy's filter is the one that is wanted.
    pub(crate) fn has_filter(&self, filter: Option<&str>, grammar: &str) -> bool {
        (self.filter.as_deref(), &*self.grammar) == (filter, grammar)
    }
}
