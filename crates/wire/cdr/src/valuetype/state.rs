//! The state of a value, as it is read and written: in steps.

use std::any::Any;

use super::{FormalValue, Graph, ValueRef};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;

/// What a step of writing has done.
#[derive(Debug)]
pub enum WriteStep {
    /// It wrote some members.
    Wrote,
    /// The next member is this value, which is for the caller to write.
    Value(Option<ValueRef>),
    /// There was nothing left to write.
    End,
}

/// What a step of reading has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// It read some members.
    Read,
    /// The next member is a value, which is for the caller to read, as [`ValueState::formal`] says, and to
    /// [`link`](ValueState::link).
    Value,
    /// There was nothing left to read.
    End,
}

/// The state of a value: what its type's members are, those of its bases first.
///
/// Both ways through it go by steps that count from 0. A step is as many members as come before the next one
/// that is a value by itself, or that one.
pub trait ValueState: Any + Send + Sync {
    /// Writes what belongs to a step.
    ///
    /// # Errors
    /// Those of the members.
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError>;

    /// Reads what belongs to a step.
    ///
    /// # Errors
    /// Those of the members.
    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError>;

    /// What the value that a step stopped at is read as.
    fn formal(&self, step: usize) -> &dyn FormalValue;

    /// Puts the value that a step stopped at in its place. It is one that `formal` admits.
    fn link(&mut self, step: usize, value: Option<ValueRef>);

    /// Lets go of `graph` wherever a link leads to a value of the same graph, which holds this state.
    fn adopt(&mut self, graph: &Graph);

    /// The state, or the part of it that a base has, as who knows its type sees it.
    fn part(&self, wanted: std::any::TypeId) -> Option<&dyn Any>;

    /// As [`ValueState::part`], to be changed.
    fn part_mut(&mut self, wanted: std::any::TypeId) -> Option<&mut dyn Any>;
}

/// The formal type of what is no value member.
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

/// A state without members.
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
