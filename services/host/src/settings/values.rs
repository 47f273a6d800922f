//! The values of a service's settings, checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::SettingsError;
use super::text::{bytes, check, time};
use super::{Key, Setting, file};

/// Checked values of a service's settings.
#[derive(Clone, Debug)]
pub struct Values {
    given: BTreeMap<&'static str, Vec<String>>,
}

impl Values {
    /// Reads the settings of a file, if there is one, and from the command line, which is given as
    /// settings' names with their texts.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn read(
        table: &[&'static Setting],
        file: Option<&Path>,
        command_line: impl IntoIterator<Item = (&'static str, Vec<String>)>,
    ) -> Result<Self, SettingsError> {
        let given = match file {
            Some(path) => {
                let name = path.display().to_string();
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| SettingsError::File {
                    file: name.clone(),
                    reason: error.to_string(),
                })?;
                file::parsed(table, &name, &text)?
            }
            None => BTreeMap::new(),
        };
        Self::checked(table, given, command_line)
    }

    /// Parses the text of a settings file; `name` is the file's name for error messages.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn from_toml(
        table: &[&'static Setting],
        name: &str,
        text: &str,
    ) -> Result<Self, SettingsError> {
        Self::checked(table, file::parsed(table, name, text)?, [])
    }

    fn checked(
        table: &[&'static Setting],
        mut given: BTreeMap<&'static str, Vec<String>>,
        command_line: impl IntoIterator<Item = (&'static str, Vec<String>)>,
    ) -> Result<Self, SettingsError> {
        let command_line: Vec<_> = command_line.into_iter().collect();
        let on_command_line: Vec<&str> = command_line.iter().map(|(name, _)| *name).collect();
        for (name, texts) in command_line {
            let setting = table.iter().find(|setting| setting.name == name);
            // It goes before the keys of the file that it cannot be given together with.
            if let Some(setting) = setting.filter(|_| texts.iter().any(|text| text != "false")) {
                let excludes = |one: &str| {
                    let other = table.iter().find(|other| other.name == one);
                    setting.conflicts.contains(&one)
                        || other.is_some_and(|other| other.conflicts.contains(&name))
                };
                given.retain(|one, _| !excludes(one) || on_command_line.contains(one));
            }
            for text in setting.into_iter().flat_map(|_| &texts) {
                let setting = setting.map_or(Ok(()), |setting| check(setting, text));
                setting.map_err(|reason| SettingsError::Value {
                    place: "command line".to_owned(),
                    key: format!("--{name}"),
                    reason,
                })?;
            }
            given.insert(name, texts);
        }
        let values = Self { given };
        values.check_combinations(table)?;
        Ok(values)
    }

    fn check_combinations(&self, table: &[&'static Setting]) -> Result<(), SettingsError> {
        for setting in table {
            let name = setting.name;
            if setting.is_required && setting.default.is_none() && !self.is_given(name) {
                let message = format!("`{name}` is required, and not given");
                return Err(SettingsError::Combination(message));
            }
            if !self.is_given(name) {
                continue;
            }
            if let Some(missing) = setting.requires.iter().find(|one| !self.is_given(one)) {
                let message = format!("`{name}` needs `{missing}`, which is not given");
                return Err(SettingsError::Combination(message));
            }
            if let Some(other) = setting.conflicts.iter().find(|one| self.is_given(one)) {
                let message = format!("`{name}` and `{other}` cannot be given together");
                return Err(SettingsError::Combination(message));
            }
        }
        Ok(())
    }

    /// Returns true if the file or the command line sets the key; a flag counts as set if it is
    /// true.
    fn is_given(&self, name: &str) -> bool {
        let texts = self.given.get(name);
        texts.is_some_and(|texts| texts.iter().any(|text| text != "false"))
    }

    /// Returns the texts that the file or the command line gives for the setting of this name; `None` if there are none.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&[String]> {
        let texts = self.given.get(name).map(Vec::as_slice);
        texts.filter(|texts| !texts.is_empty())
    }

    /// Returns a number as a `usize`, or the largest `usize` if it is larger.
    #[must_use]
    pub fn count(&self, key: &Key<u64>) -> usize {
        usize::try_from(self.get(key)).unwrap_or(usize::MAX)
    }

    /// Returns the value of a key: the configured one, or the default.
    #[must_use]
    pub fn get<T: FromTexts>(&self, key: &Key<T>) -> T {
        match self.given.get(key.setting.name) {
            Some(texts) => T::from_texts(texts),
            None => {
                let default: Vec<String> = key
                    .setting
                    .default
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                T::from_texts(&default)
            }
        }
    }
}

/// Type into which checked values of a setting are converted.
pub trait FromTexts {
    /// Converts checked texts; there are none if the key is absent and has no default.
    fn from_texts(texts: &[String]) -> Self;
}

impl FromTexts for bool {
    fn from_texts(texts: &[String]) -> Self {
        texts.iter().any(|text| text == "true")
    }
}

impl FromTexts for u64 {
    fn from_texts(texts: &[String]) -> Self {
        let text = texts.last();
        // A number alone is read as so many bytes, too.
        text.and_then(|text| bytes(text).ok()).unwrap_or_default()
    }
}

impl FromTexts for Option<u64> {
    fn from_texts(texts: &[String]) -> Self {
        texts.last().and_then(|text| bytes(text).ok())
    }
}

impl FromTexts for Duration {
    fn from_texts(texts: &[String]) -> Self {
        let text = texts.last();
        text.and_then(|text| time(text, true).ok())
            .unwrap_or_default()
    }
}

impl FromTexts for Option<Duration> {
    fn from_texts(texts: &[String]) -> Self {
        let time = Duration::from_texts(texts);
        (!time.is_zero()).then_some(time)
    }
}

impl FromTexts for String {
    fn from_texts(texts: &[String]) -> Self {
        texts.last().cloned().unwrap_or_default()
    }
}

impl FromTexts for Option<String> {
    fn from_texts(texts: &[String]) -> Self {
        texts.last().cloned()
    }
}

impl FromTexts for Option<PathBuf> {
    fn from_texts(texts: &[String]) -> Self {
        texts.last().map(PathBuf::from)
    }
}

impl FromTexts for Vec<PathBuf> {
    fn from_texts(texts: &[String]) -> Self {
        texts.iter().map(PathBuf::from).collect()
    }
}

impl FromTexts for Vec<String> {
    fn from_texts(texts: &[String]) -> Self {
        texts.to_vec()
    }
}
