//! A table of the configuration file.

use super::draft::Draft;
use super::setting::Setting;

/// Section of the configuration file: a table of TOML.
pub(super) struct Section {
    /// Name of the table; empty for keys before the first table.
    pub(super) name: &'static str,
    /// Description of the table in the configuration file.
    pub(super) doc: &'static str,
    /// Function that is called if the file contains the table, even an empty one.
    pub(super) open: Option<fn(&mut Draft)>,
    pub(super) settings: &'static [Setting],
}

impl Section {
    /// Returns the full key of a setting: table and key.
    #[cfg(any(test, feature = "config-files"))]
    pub(super) fn key(&self, setting: &Setting) -> String {
        match self.name {
            "" => setting.key.to_owned(),
            table => format!("{table}.{}", setting.key),
        }
    }
}
