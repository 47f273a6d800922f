//! Configurations in use, read again when their files change.

use crate::error::TlsError;
use crate::files::{Configs, load};
use crate::options::{ClientCertificate, TlsOptions, TlsVersion};
use punctual_link::{LinkError, Phase};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sources of a link: one for each combination of endpoint settings that configurations depend on.
/// There are few.
#[derive(Debug)]
pub(crate) struct Sources {
    known: Mutex<BTreeMap<(ClientCertificate, TlsVersion), Arc<Source>>>,
}

impl Sources {
    /// Makes the list with a source for the link's own options.
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, TlsError> {
        let first = Arc::new(Source::new(options)?);
        Ok(Self {
            known: Mutex::new(BTreeMap::from([(kind_of(options), first)])),
        })
    }

    /// Returns the source of configurations for the given options.
    pub(crate) fn of(&self, options: &TlsOptions, phase: Phase) -> Result<Arc<Source>, LinkError> {
        let mut known = lock(&self.known);
        if let Some(source) = known.get(&kind_of(options)) {
            return Ok(source.clone());
        }
        let made =
            Source::new(options).map_err(|error| LinkError::os(phase, io::Error::other(error)))?;
        let made = Arc::new(made);
        known.insert(kind_of(options), made.clone());
        Ok(made)
    }

    /// Reads all files, whether they have changed or not.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        lock(&self.known).values().try_for_each(|one| one.reload())
    }
}

fn kind_of(options: &TlsOptions) -> (ClientCertificate, TlsVersion) {
    (options.client_certificate, options.minimum)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Source of the TLS configurations for handshakes, which are reloaded when the certificate files
/// change.
pub(crate) struct Source {
    options: TlsOptions,
    files: Vec<PathBuf>,
    state: Mutex<State>,
}

struct State {
    configs: Configs,
    /// State of the files when they were last read, successfully or not.
    stamps: Vec<Stamp>,
}

/// Identification of a file's state, `None` where it does not exist. A change within one tick of
/// the clock shows only in the length or the inode, if at all.
type Stamp = Option<(u64, u64, i64, i64, i64, i64)>;

impl Source {
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, TlsError> {
        let own = options.certificate.iter().chain(&options.key);
        let files: Vec<PathBuf> = own
            .chain(&options.trusted)
            .chain(&options.crl)
            .cloned()
            .collect();
        // Taken before the files are read: a change in between causes another read.
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

    /// Returns the current TLS configurations, reloaded from the certificate files if those have
    /// changed.
    pub(crate) fn configs(&self) -> Configs {
        let now = stamps(&self.files);
        let mut state = lock(&self.state);
        if now == state.stamps {
            return state.configs.clone();
        }
        // A bad file is reported once, until it changes again.
        state.stamps = now;
        let read = load(&self.options).map(|configs| state.configs = configs);
        let configs = state.configs.clone();
        // A log subscriber may connect over TLS itself.
        drop(state);
        match read {
            Ok(()) => tracing::info!("certificates reloaded"),
            Err(error) => {
                tracing::warn!(
                    "changed certificates are unusable, the old ones stay in use: {error}"
                );
            }
        }
        configs
    }

    /// Reads the files, whether they have changed or not.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let now = stamps(&self.files);
        let configs = load(&self.options)?;
        *lock(&self.state) = State {
            configs,
            stamps: now,
        };
        Ok(())
    }
}

/// Shows the files' names, and nothing of their content.
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
