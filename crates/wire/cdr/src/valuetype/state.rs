//! State of a value, read and written in steps.

use std::any::Any;

use super::{FormalValue, Graph, ValueRef};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;

/// Result of one step in writing the state of a value.
#[derive(Debug)]
pub enum WriteStep {
    /// Some members of the value were written.
    Wrote,
    /// The next member is this value, which the caller has to write.
    Value(Option<ValueRef>),
    /// All members of the value have been written.
    End,
}

/// Result of one step in reading the state of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// Some members of the value were read.
    Read,
    /// The next member is a value, which the caller has to read, as [`ValueState::formal`] says,
    /// and to [`link`](ValueState::link).
    Value,
    /// All members of the value have been read.
    End,
}

/// State of a value: the members of its type, those of its bases first.
///
/// It is read and written in steps that count from 0. A step covers all members before the next one
/// that is a value by itself, or that one.
pub trait ValueState: Any + Send + Sync {
    /// Writes the members of a step.
    ///
    /// # Errors
    /// Those of the members.
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError>;

    /// Reads the members of a step.
    ///
    /// # Errors
    /// Those of the members.
    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError>;

    /// Returns the formal type of the value that a step stopped at.
    fn formal(&self, step: usize) -> &dyn FormalValue;

    /// Stores the value that a step stopped at. It is one that `formal` admits.
    fn link(&mut self, step: usize, value: Option<ValueRef>);

    /// Turns links to values of `graph` into links that do not keep it alive, since it owns this
    /// state.
    fn adopt(&mut self, graph: &Graph);

    /// Returns the state, or the part of it that belongs to a base, by its type.
    fn part(&self, wanted: std::any::TypeId) -> Option<&dyn Any>;

    /// Returns the part as [`ValueState::part`] does, to be changed.
    fn part_mut(&mut self, wanted: std::any::TypeId) -> Option<&mut dyn Any>;
}

/// Formal type that allows any value, returned for a step that does not stop at a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyValue;

impl FormalValue for AnyValue {
    fn repository_id(&self) -> &str {
        ""
    }

    fn factory(&self) -> Option<std::sync::Arc<dyn super::ValueFactory>> {
        None
    }

    fn admits(&self, _factory: &dyn super::ValueFactory) -> bool {
        true
    }
}

/// State of a value without members.
pub(super) struct Empty;

impl ValueState for Empty {
    fn write_step(&self, _step: usize, _out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        Ok(WriteStep::End)
    }

    fn read_step(&mut self, _step: usize, _input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
        Ok(ReadStep::End)
    }

    fn formal(&self, _step: usize) -> &dyn FormalValue {
        &AnyValue
    }

    fn link(&mut self, _step: usize, _value: Option<ValueRef>) {}

    fn adopt(&mut self, _graph: &Graph) {}

    fn part(&self, _wanted: std::any::TypeId) -> Option<&dyn Any> {
        None
    }

    fn part_mut(&mut self, _wanted: std::any::TypeId) -> Option<&mut dyn Any> {
        None
    }
}
