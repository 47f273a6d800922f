//! The configurations in use, read again when their files change.

use crate::error::TlsError;
use crate::files::{Configs, load};
use crate::options::TlsOptions;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where each handshake takes its configuration from.
pub(crate) struct Source {
    options: TlsOptions,
    files: Vec<PathBuf>,
    state: Mutex<State>,
}

struct State {
    configs: Configs,
    /// What the files looked like when they were last read, with success or without.
    stamps: Vec<Stamp>,
}

/// What tells one state of a file from another: `None` where there is none. A change within one tick
/// of the clock shows in the length or the inode, if at all.
type Stamp = Option<(u64, u64, i64, i64, i64, i64)>;

impl Source {
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, TlsError> {
        let own = options.certificate.iter().chain(&options.key);
        let files: Vec<PathBuf> = own.chain(&options.trusted).cloned().collect();
        // Looked at before they are read: what changes in between is read again.
        let stamps = stamps(&files);
        Ok(Self {
            options: options.clone(),
            state: Mutex::new(State {
                configs: load(options)?,
                stamps,
            }),
            files,
        })
    }

    /// The configurations, after a look at the files.
    pub(crate) fn configs(&self) -> Configs {
        let now = stamps(&self.files);
        let mut state = self.lock();
        if now != state.stamps {
            // A bad file is told of once, until it changes again.
            state.stamps = now;
            match load(&self.options) {
                Ok(configs) => {
                    state.configs = configs;
                    tracing::info!("read the certificates anew");
                }
                Err(error) => {
                    tracing::warn!("certificates have changed, and the old ones stay: {error}");
                }
            }
        }
        state.configs.clone()
    }

    /// Reads the files, whether they have changed or not.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let now = stamps(&self.files);
        let configs = load(&self.options)?;
        *self.lock() = State {
            configs,
            stamps: now,
        };
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files' names, and nothing of what is in them.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let facts = std::fs::metadata(file).ok()?;
        Some((
            facts.ino(),
            facts.len(),
            facts.mtime(),
            facts.mtime_nsec(),
            facts.ctime(),
            facts.ctime_nsec(),
        ))
    };
    files.iter().map(stamp).collect()
}
