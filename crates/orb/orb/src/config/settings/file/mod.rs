//! The TOML configuration file. Every key is optional; an unknown one is an error. `examples/orb.toml`
//! has them all.
//!
//! ```toml
//! listen = ["iiop://:2809/hostname_in_ior=orb.example"]
//! giop_version = "1.2"
//! trace = "giop,hex"
//! [initial_references]
//! NameService = "corbaloc::names.example/NameService"
//! [timeouts]             # milliseconds, 0 for none
//! call_ms = 2000
//! [limits]
//! message = 67108864
//! [tcp]
//! keep_alive_idle_s = 30
//! ```

#[cfg(feature = "config-files")]
mod text;

use crate::config::error::ConfigError;
use crate::config::orb_config::OrbConfig;
use std::path::{Path, PathBuf};
#[cfg(feature = "config-files")]
use text::applied;

impl OrbConfig {
    /// Applies a TOML file. On an error none of its values is applied.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, does not parse, or has an unknown key or an
    /// invalid value, and for any file without the feature `config-files`.
    pub fn apply_file(&mut self, path: impl Into<PathBuf>) -> Result<(), ConfigError> {
        let path = path.into();
        let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Unreadable {
            path: path.clone(),
            source,
        })?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        match applied(self, &text, folder) {
            Ok(config) => *self = config,
            Err(message) => return Err(ConfigError::BadFile { path, message }),
        }
        Ok(())
    }
}

/// Refuses a configuration file.
#[cfg(not(feature = "config-files"))]
fn applied(_config: &OrbConfig, _text: &str, _folder: &Path) -> Result<OrbConfig, String> {
    Err("this program was built without the feature `config-files`".to_owned())
}
