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
mod foreign;
mod given;
mod nearest;
mod sample;
mod section;
mod sections;
mod setting;
mod slot;
mod words;

#[cfg(test)]
mod tests;

pub(super) use check::check;
