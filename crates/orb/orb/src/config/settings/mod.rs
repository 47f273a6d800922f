//! Table of all settings (`sections`), from which the configuration file, the command-line options,
//! the checks before the start and the documentation are derived.
//!
//! A key of the file or an option yields a [`given::Value`]; the key's [`setting::Setting`] checks
//! the value and stores it in the [`slot::Slot`] of that setting, a field of a [`draft::Draft`] of
//! the configuration. The draft combines settings that have several parts, and becomes the
//! configuration.

mod arguments;
mod bounds;
mod check;
mod composite;
mod draft;
mod file;
#[cfg(feature = "suggestions")]
mod foreign;
mod given;
#[cfg(feature = "suggestions")]
mod nearest;
mod sample;
mod section;
mod sections;
mod setting;
mod slot;
#[cfg(not(feature = "suggestions"))]
mod without_suggestions;
mod words;

#[cfg(test)]
mod tests;

pub(super) use check::check;
#[cfg(all(feature = "config-files", feature = "suggestions"))]
use foreign::in_file;
#[cfg(all(feature = "config-files", not(feature = "suggestions")))]
use without_suggestions::in_file;
#[cfg(not(feature = "suggestions"))]
use without_suggestions::{nearest, on_command_line};
#[cfg(feature = "suggestions")]
use {foreign::on_command_line, nearest::nearest};
