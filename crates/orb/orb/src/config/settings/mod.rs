//! Table of all settings (`sections`), from which the file, the options, the checks at the start and
//! the documentation come.
//!
//! A value's way: a key of the file or an option gives a [`given::Value`]; its [`setting::Setting`]
//! checks it and writes it to its [`slot::Slot`], a place in a [`draft::Draft`] of the configuration.
//! The draft puts settings of several parts together and becomes the configuration.

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
