//! One setting: its names, the form and bounds of its values, its meaning and its field in the
//! configuration.

use super::bounds::{Bounds, Unit};
use super::draft::Draft;
use super::given::{Given, Value};
use super::slot::{Form, Slot};
use crate::config::error::ConfigError;
use std::path::Path;

/// Check of a text beyond its form; the error says what is expected.
type Check = fn(&str) -> Result<(), String>;

/// Setting of an ORB: a key of the configuration file, and perhaps an option of the command line.
pub(super) struct Setting {
    /// Key of the setting within its table of the configuration file.
    pub(super) key: &'static str,
    /// Command-line option that sets the same setting.
    pub(super) option: Option<&'static str>,
    pub(super) bounds: Bounds,
    /// Value that the sample file shows, commented out, if there is no default or the default
    /// depends on the machine.
    pub(super) example: Option<&'static str>,
    /// True if the setting's default value depends on the machine.
    pub(super) is_by_machine: bool,
    /// Form of the setting's values, if their type does not determine it.
    form: Option<&'static str>,
    check: Option<Check>,
    /// Field of the configuration that holds the setting's value.
    pub(super) field: Field,
    /// Meaning of the setting and its consequences, for the sample file and the guide.
    pub(super) doc: &'static str,
}

/// Field of the configuration: its path from `OrbConfig`, and the function that returns it.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) path: &'static str,
    pub(super) slot: fn(&mut Draft) -> &mut dyn Slot,
}

/// Makes a [`Field`] of the configuration from its path.
macro_rules! field {
    ($first:ident $(. $next:ident)*) => {
        $crate::config::settings::setting::Field {
            path: concat!(stringify!($first) $(, ".", stringify!($next))*),
            slot: |draft| &mut draft.config.$first $(. $next)*,
        }
    };
}
pub(super) use field;

impl Setting {
    /// Creates a setting of the ORB configuration.
    pub(super) const fn new(key: &'static str, field: Field, doc: &'static str) -> Self {
        Self {
            key,
            option: None,
            bounds: Bounds::ANY,
            example: None,
            is_by_machine: false,
            form: None,
            check: None,
            field,
            doc,
        }
    }

    /// Adds a command-line option for the setting.
    pub(super) const fn option(mut self, name: &'static str) -> Self {
        self.option = Some(name);
        self
    }

    /// Sets the unit of a numeric setting.
    pub(super) const fn unit(mut self, unit: Unit) -> Self {
        self.bounds.unit = unit;
        self
    }

    /// Sets the smallest valid number of the setting.
    pub(super) const fn at_least(mut self, least: u64) -> Self {
        self.bounds.least = least;
        self
    }

    /// Sets the largest valid number of the setting.
    pub(super) const fn at_most(mut self, most: u64) -> Self {
        self.bounds.most = most;
        self
    }

    /// Allows 0 as a value, even below the smallest valid number.
    pub(super) const fn or_zero(mut self) -> Self {
        self.bounds.or_zero = true;
        self
    }

    /// Sets the example value that the sample configuration file shows.
    pub(super) const fn example(mut self, value: &'static str) -> Self {
        self.example = Some(value);
        self
    }

    /// Marks the default as dependent on the machine; the sample file shows `value`.
    pub(super) const fn by_machine(mut self, value: &'static str) -> Self {
        self.is_by_machine = true;
        self.example(value)
    }

    /// Sets the description of the form of the setting's values.
    pub(super) const fn form(mut self, form: &'static str) -> Self {
        self.form = Some(form);
        self
    }

    /// Adds a check of the setting's value in text form.
    pub(super) const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Applies a value. `key` is the full key (table and key) or the option, for errors; paths are
    /// relative to `folder`.
    ///
    /// # Errors
    /// If the value is invalid.
    pub(super) fn apply(
        &self,
        draft: &mut Draft,
        key: &str,
        value: &Value,
        folder: &Path,
    ) -> Result<(), ConfigError> {
        let slot = (self.field.slot)(draft);
        let expected = self.expected(slot, matches!(value, Value::Argument(_)));
        let given = Given {
            key,
            value,
            bounds: self.bounds,
            expected: &expected,
            folder,
        };
        if let Some(check) = self.check {
            check(given.text()?).map_err(|expected| given.bad(expected))?;
        }
        slot.set(&given)
    }

    /// Returns the form of the setting's values in words, for the command line or for the file.
    pub(super) fn expected(&self, slot: &dyn Slot, is_option: bool) -> String {
        if let Some(form) = self.form {
            return form.to_owned();
        }
        match (slot.form(), is_option) {
            (Form::Number, _) => self.bounds.to_string(),
            (Form::Time(is_optional), _) => {
                let is_optional = is_optional && self.bounds.contain(0);
                let none = if is_optional { "; 0 for none" } else { "" };
                let number = self.bounds;
                match is_option {
                    true => format!("a time such as 200ms or 2s, or {number}{none}"),
                    false => format!("{number}{none}"),
                }
            }
            (Form::Switch, _) => "true or false".to_owned(),
            (Form::Word(words), _) => one_of(&words),
            (Form::Text(form) | Form::Numbers(form), _) => form.to_owned(),
            (Form::Texts(form, separator), true) => {
                format!("{form}, with `{separator}` between several")
            }
            (Form::Texts(form, _), false) => format!("a list of {form}"),
            (Form::Table { argument, .. }, true) => argument.to_owned(),
            (Form::Table { file, .. }, false) => file.to_owned(),
        }
    }
}

/// Joins alternatives to a text: `read, reactor or leader_followers`.
fn one_of(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        words => words.concat(),
    }
}
