//! Writing of values to bytes.

use super::tag::{INDIRECTION, NULL, TypeInformation, ValueTag};
use super::written_values::Chunk;
use super::{ValueFactory, ValueRef, WriteStep};
use crate::encoder::Encoder;
use crate::error::CdrError;
use std::sync::Arc;

/// Value whose state is being written.
struct Open {
    value: ValueRef,
    step: usize,
    is_chunked: bool,
}

/// Value whose state is written without a handle to it: see [`Encoder::open_value`].
#[derive(Clone, Copy, Debug)]
pub struct OpenValue {
    /// Position of the value's tag in the message.
    at: usize,
    is_chunked: bool,
}

impl<'e> Encoder<'e> {
    /// Writes a value, an indirection to where it was written before, or null (§9.3.4). The values
    /// that it holds as members follow without recursion, to any depth.
    ///
    /// Sharing is preserved within one message, and within each encapsulation by itself. Other
    /// threads may change the value meanwhile; each step is written as it is then.
    ///
    /// # Errors
    /// Those of its members; [`CdrError::TooDeep`] if values nest too deep in sequences, structs
    /// and unions.
    pub fn put_value(&mut self, value: Option<&ValueRef>) -> Result<(), CdrError> {
        let limit = self.coding().limits.nesting;
        let written = self.written();
        if written.depth >= limit {
            return Err(CdrError::TooDeep { limit });
        }
        written.depth += 1;
        let result = self.put_graph(value.cloned());
        self.written().depth -= 1;
        // The writer of an enclosing chunked state continues behind the value.
        if result.is_ok() {
            self.open_chunk();
        }
        result
    }

    fn put_graph(&mut self, value: Option<ValueRef>) -> Result<(), CdrError> {
        let mut open = Vec::new();
        self.begin_value(value, &mut open)?;
        while let Some(current) = open.last_mut() {
            self.open_chunk();
            let step = current.step;
            current.step += 1;
            let state = current
                .value
                .with_state(|state| state.write_step(step, self));
            match state.ok_or(CdrError::Invalid("the value is still being read"))?? {
                WriteStep::Wrote => {}
                WriteStep::Value(next) => self.begin_value(next, &mut open)?,
                WriteStep::End => {
                    if current.is_chunked {
                        self.end_chunked()?;
                    }
                    open.pop();
                }
            }
        }
        Ok(())
    }

    /// Writes null, an indirection, or everything before a value's state.
    fn begin_value(
        &mut self,
        value: Option<ValueRef>,
        open: &mut Vec<Open>,
    ) -> Result<(), CdrError> {
        self.open_chunk();
        let Some(value) = value else {
            self.put_u32(NULL);
            return Ok(());
        };
        let address = value.address();
        if let Some(&(at, _)) = self.written().values.get(&address) {
            return self.put_indirection(at);
        }
        let (at, is_chunked) = self.put_head(&value.factory())?;
        self.written().values.insert(address, (at, value.clone()));
        open.push(Open {
            value,
            step: 0,
            is_chunked,
        });
        Ok(())
    }

    /// Writes the header of a value to which no handle exists, for callers that have the state in
    /// another form. They write the state next, and then call [`Encoder::close_value`].
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn open_value(&mut self, factory: &Arc<dyn ValueFactory>) -> Result<OpenValue, CdrError> {
        let (at, is_chunked) = self.put_head(factory)?;
        self.open_chunk();
        Ok(OpenValue { at, is_chunked })
    }

    /// Records the factories of the values that are written from now on, for
    /// [`Encoder::take_value_factories`].
    pub fn record_value_factories(&mut self) {
        self.written().factories.get_or_insert_default();
    }

    /// Adds the factories of values whose marshaled bytes are copied into this message, after
    /// [`Encoder::record_value_factories`]; without that, does nothing.
    pub fn add_value_factories(&mut self, added: &[Arc<dyn ValueFactory>]) {
        let written = self.written_if_any();
        let Some(factories) = written.and_then(|written| written.factories.as_mut()) else {
            return;
        };
        for factory in added {
            let id = factory.repository_id();
            if !factories.iter().any(|one| one.repository_id() == id) {
                factories.push(Arc::clone(factory));
            }
        }
    }

    /// Returns the recorded factories, each once. Reading the values again takes them, as the
    /// declared type of a member or parameter does not name the types that inherit from it.
    pub fn take_value_factories(&mut self) -> Vec<Arc<dyn ValueFactory>> {
        self.written().factories.take().unwrap_or_default()
    }

    /// Ends a value that [`Encoder::open_value`] began, the innermost one.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if a chunk is too large.
    pub fn close_value(&mut self, value: OpenValue) -> Result<(), CdrError> {
        if value.is_chunked {
            self.end_chunked()?;
        }
        self.open_chunk();
        Ok(())
    }

    /// Writes an indirection to a value that [`Encoder::open_value`] began in the same encapsulation.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if that is 2 GiB before.
    pub fn put_value_again(&mut self, value: OpenValue) -> Result<(), CdrError> {
        self.open_chunk();
        self.put_indirection(value.at)
    }

    /// Writes everything before a value's state. Returns the value's position, and whether its
    /// state is in chunks.
    fn put_head(&mut self, factory: &Arc<dyn ValueFactory>) -> Result<(usize, bool), CdrError> {
        self.close_chunk()?;
        self.add_value_factories(std::slice::from_ref(factory));
        let factory = &**factory;
        let is_truncatable = factory.truncatable_to(0).is_some();
        let is_chunked = factory.is_custom() || is_truncatable || self.written().level > 0;
        let tag = ValueTag {
            has_codebase: false,
            types: if is_truncatable {
                TypeInformation::List
            } else {
                TypeInformation::One
            },
            is_chunked,
        };
        self.put_u32(tag.number());
        let at = self.place() - 4;
        if is_truncatable {
            self.put_ids(factory)?;
        } else {
            self.put_id(factory.repository_id())?;
        }
        if is_chunked {
            self.written().level += 1;
            let lender = self.take_lender();
            let written = self.written();
            written.lender = written.lender.or(lender);
        }
        Ok((at, is_chunked))
    }

    /// Writes a list of ids: the type's own, then those of types it may be truncated to. Never an
    /// indirection to a list, which JacORB takes for a list of length -1: each of the ids is an
    /// indirection.
    fn put_ids(&mut self, factory: &dyn ValueFactory) -> Result<(), CdrError> {
        let own = factory.repository_id();
        let bases = (0..).map_while(|at| factory.truncatable_to(at));
        self.put_length(1 + bases.clone().count())?;
        self.put_id(own)?;
        bases.into_iter().try_for_each(|base| self.put_id(base))
    }

    fn put_id(&mut self, id: &str) -> Result<(), CdrError> {
        if let Some(&at) = self.written().ids.get(id) {
            return self.put_indirection(at);
        }
        self.align(4);
        let at = self.place();
        self.written().ids.insert(id.into(), at);
        self.put_string(id)
    }

    fn put_indirection(&mut self, to: usize) -> Result<(), CdrError> {
        self.put_u32(INDIRECTION);
        let back = self.place() - to;
        let offset = i32::try_from(back).map_err(|_| CdrError::over_limit(back, 1 << 31))?;
        self.put_i32(-offset);
        Ok(())
    }

    /// Writes the end tag of the innermost chunked value.
    fn end_chunked(&mut self) -> Result<(), CdrError> {
        self.close_chunk()?;
        let level = self.written().level;
        self.put_u32(level.wrapping_neg());
        let written = self.written();
        written.level -= 1;
        if written.level == 0 {
            let lender = written.lender.take();
            self.set_lender(lender);
        }
        Ok(())
    }

    /// Makes room for a chunk's size, if the next data belongs into a chunk and none is open.
    fn open_chunk(&mut self) {
        let before = self.position();
        let written = self.written();
        if written.level == 0 || written.chunk.is_some() {
            return;
        }
        self.put_u32(0);
        let start = self.position();
        self.written().chunk = Some(Chunk { before, start });
    }

    /// Writes the size of the open chunk, or removes the chunk if it is empty.
    fn close_chunk(&mut self) -> Result<(), CdrError> {
        let Some(Chunk { before, start }) = self.written().chunk.take() else {
            return Ok(());
        };
        let size = self.position() - start;
        if size == 0 {
            self.block_mut().truncate(before);
            return Ok(());
        }
        let Some(encoded) = u32::try_from(size)
            .ok()
            .filter(|n| *n < super::tag::FIRST_TAG)
        else {
            return Err(CdrError::over_limit(size, super::tag::FIRST_TAG as usize));
        };
        self.patch_u32(start - 4, encoded);
        Ok(())
    }
}
