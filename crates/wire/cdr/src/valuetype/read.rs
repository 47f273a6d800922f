//! Reading of values from bytes.

use std::sync::Arc;

use super::graph::{Node, push_growing_by_half};
use super::header::Header;
use super::read_values::Open;
use super::tag::{INDIRECTION, NULL, ValueTag};
use super::{FormalValue, ReadStep, ValueFactory, ValueRef};
use crate::decoder::Decoder;
use crate::error::CdrError;

/// Length up to which an id may be compared for each value that refers to it; a longer one counts
/// as read again.
const SHORT_ID: usize = 96;

/// Result of reading the beginning of an encoded value.
enum ValueStart {
    Null,
    /// Indirection to a value that was read earlier.
    Earlier(Arc<Node>),
    /// Value that begins at this position.
    New(Open),
}

impl<'d> Decoder<'d> {
    /// Reads a value, or null, where the IDL has a value of type `formal` (§9.3.4). The values that
    /// it holds as members are read without recursion, to any depth.
    ///
    /// All values of a message, or of an encapsulation, are in one graph, which lives as long as a
    /// handle to any of them.
    ///
    /// # Errors
    /// [`CdrError::UnknownValue`] if there is no factory for the value, and none for a type that it
    /// may be truncated to. [`CdrError::Invalid`] for indirections to nowhere or to values of
    /// another type, and for chunks and end tags that do not fit. [`CdrError::TooManyValues`].
    /// [`CdrError::TooDeep`] if values nest too deep in sequences, structs and unions.
    pub fn get_value(&mut self, formal: &dyn FormalValue) -> Result<Option<ValueRef>, CdrError> {
        self.nested(|this| this.get_graph(formal))
    }

    /// Returns the number of parts that the states of the message's values were split into so far,
    /// by readers that know the types only at run time and [report
    /// it](Decoder::note_parts_of_values).
    #[must_use]
    pub fn parts_of_values(&self) -> usize {
        self.read_values().map_or(0, |values| values.parts)
    }

    /// Records that the data just read was split into `count` more parts, if it belongs to a
    /// value's state.
    pub fn note_parts_of_values(&mut self, count: usize) {
        if self.read_values().is_some_and(|values| values.open > 0) {
            let values = self.values();
            values.parts = values.parts.saturating_add(count);
        }
    }

    fn get_graph(&mut self, formal: &dyn FormalValue) -> Result<Option<ValueRef>, CdrError> {
        let outer = self.values().reading;
        let is_within = self.values().open > 0;
        let root = match self.find_value(formal)? {
            ValueStart::Null => return Ok(None),
            ValueStart::Earlier(node) => node,
            ValueStart::New(open) => {
                let node = Arc::clone(&open.node);
                self.get_states(open)?;
                node
            }
        };
        self.resume_state(outer);
        let values = self.values();
        Ok(Some(if is_within {
            ValueRef::within(&root)
        } else {
            values.graph().handle(&root)
        }))
    }

    /// Reads the state of a value, and of all that it holds as members.
    fn get_states(&mut self, first: Open) -> Result<(), CdrError> {
        // Entries below belong to an outer read, of a state that holds this value in a sequence.
        let values = self.values();
        let (below, open) = (values.waiting.0.len(), values.open);
        let read = self.get_states_above(first, below);
        if read.is_err() {
            // A caller that ignores the error continues with the entries below.
            let values = self.values();
            values.waiting.0.truncate(below);
            values.open = open;
        }
        read
    }

    fn get_states_above(&mut self, first: Open, below: usize) -> Result<(), CdrError> {
        let mut current = first;
        self.values().open += 1;
        loop {
            self.resume_state(current.level.unwrap_or(0));
            let step = current.step;
            current.step += 1;
            match current.state.read_step(step, self)? {
                ReadStep::Read => {}
                ReadStep::Value => {
                    let found = self.find_value(current.state.formal(step))?;
                    let node = match &found {
                        ValueStart::Null => None,
                        ValueStart::Earlier(node) | ValueStart::New(Open { node, .. }) => {
                            Some(node)
                        }
                    };
                    current.state.link(step, node.map(ValueRef::within));
                    if let ValueStart::New(next) = found {
                        let values = self.values();
                        values.waiting.0.push(std::mem::replace(&mut current, next));
                        values.open += 1;
                    }
                }
                ReadStep::End => {
                    if let Some(level) = current.level {
                        self.end_chunked(level, current.is_cut)?;
                    }
                    current.node.complete(current.state);
                    let values = self.values();
                    values.open -= 1;
                    let waiting = &mut values.waiting.0;
                    let next = if waiting.len() > below {
                        waiting.pop()
                    } else {
                        None
                    };
                    let Some(next) = next else {
                        return Ok(());
                    };
                    current = next;
                }
            }
        }
    }

    /// Reads null, an indirection, or everything before a value's state.
    fn find_value(&mut self, formal: &dyn FormalValue) -> Result<ValueStart, CdrError> {
        let number = self.get_value_tag()?;
        let at = self.place().wrapping_sub(4);
        match number {
            NULL => Ok(ValueStart::Null),
            INDIRECTION => {
                let to = self.get_indirection()?;
                let values = self.values();
                let behind = to.checked_sub(values.first);
                let behind = behind.and_then(|behind| u32::try_from(behind).ok());
                let found = behind.and_then(|behind| {
                    let known = &values.values;
                    known.binary_search_by_key(&behind, |(at, _)| *at).ok()
                });
                let found = found.and_then(|number| values.values.get(number));
                let node = found.and_then(|(_, place)| values.graph.as_ref()?.at(*place));
                let node =
                    node.ok_or(CdrError::Invalid("an indirection does not lead to a value"))?;
                if !formal.admits(&**node.factory()) {
                    return Err(CdrError::Invalid(
                        "an indirection leads to a value of another type",
                    ));
                }
                Ok(ValueStart::Earlier(node))
            }
            number => self.begin_value(ValueTag::parse(number)?, at, formal),
        }
    }

    fn begin_value(
        &mut self,
        tag: ValueTag,
        at: usize,
        formal: &dyn FormalValue,
    ) -> Result<ValueStart, CdrError> {
        let limit = self.coding().limits.values;
        if self.values().values.len() >= limit {
            return Err(CdrError::TooManyValues { limit });
        }
        if !tag.is_chunked && self.values().level > 0 {
            return Err(CdrError::Invalid(
                "a value within a chunked one is not chunked",
            ));
        }
        let header = self.get_value_header(tag)?;
        let (factory, is_truncated) = self.value_factory(&header, formal)?;
        if !formal.admits(&*factory) {
            return Err(CdrError::Invalid(
                "a value is of another type than its place",
            ));
        }
        if is_truncated && !tag.is_chunked {
            return Err(CdrError::Invalid(
                "a value that is to be truncated is not chunked",
            ));
        }
        let state = factory.create();
        let is_cut = is_truncated || factory.is_custom();
        let values = self.values();
        let (node, place) = values.graph().add(factory, None);
        let too_far = |_| CdrError::Invalid("a value's position exceeds 32 bits");
        if values.values.is_empty() {
            values.first = at;
        }
        let behind = u32::try_from(at.wrapping_sub(values.first)).map_err(too_far)?;
        push_growing_by_half(&mut values.values, (behind, place.map_err(too_far)?));
        let level = tag.is_chunked.then(|| self.begin_chunked()).transpose()?;
        Ok(ValueStart::New(Open {
            node,
            state,
            step: 0,
            level,
            is_cut,
        }))
    }

    /// Returns the factory for the first known type of the value's header, its own or one that it
    /// may be truncated to, and whether it is truncated.
    fn value_factory(
        &mut self,
        header: &Header,
        formal: &dyn FormalValue,
    ) -> Result<(Arc<dyn ValueFactory>, bool), CdrError> {
        let environment = self.coding().environment;
        let ask = |id: &str| environment.and_then(|known| known.value_factory(id));
        let formal_id = formal.repository_id();
        let own = |id: &str| {
            let is_formal = !id.is_empty() && id == formal_id;
            is_formal.then(|| formal.factory()).flatten()
        };
        let Some(types) = &header.types else {
            let factory = ask(formal_id).or_else(|| own(formal_id));
            return Ok((factory.ok_or(CdrError::UnknownValue)?, false));
        };
        for (index, &place) in types.iter().enumerate() {
            let Some(known) = self.values().ids.get_mut(place) else {
                continue;
            };
            let registered = known.registered.get_or_insert_with(|| ask(&known.id));
            if let Some(factory) = registered.clone().or_else(|| own(&known.id)) {
                return Ok((factory, index > 0));
            }
            // The comparison may have read all of it.
            let length = known.id.len();
            if length > SHORT_ID && length == formal_id.len() {
                self.read_again(length)?;
            }
        }
        Err(CdrError::UnknownValue)
    }

    /// Reads an offset that counts back from its own position.
    pub(super) fn get_indirection(&mut self) -> Result<usize, CdrError> {
        let offset = self.get_i32()?;
        if offset >= -4 {
            return Err(CdrError::Invalid("an indirection must lead back"));
        }
        let at = self.place().wrapping_sub(4);
        let to = at.checked_sub(offset.unsigned_abs() as usize);
        to.ok_or(CdrError::Invalid("an indirection leads before the message"))
    }
}
