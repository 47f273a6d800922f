//! Shared code of interpreted stubs: one implementation of a call, for all operations.
//!
//! A compiled stub has its own copy of the code from arguments to results, with the marshaling of
//! its types inlined. An interpreted one has a list of its arguments and a list of slots for its
//! results; the marshaling of each is found in its type's table of functions, which all operations
//! share. That is less code and more steps (Gokhale and Schmidt 1998 and Arulanthu et al. 2000
//! compare the two).

use super::object::ObjectRef;
use crate::client::{self, Body};
use crate::exception::{CompletionStatus, SystemException, unmarshal_exception};
use crate::operation::Operation;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use std::fmt;

/// Storage for one result of a call, filled from the reply.
pub trait ResultSlot {
    /// Reads the result.
    ///
    /// # Errors
    /// MARSHAL if the bytes are not a value of the type.
    fn fill(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError>;
}

impl<T: Unmarshal> ResultSlot for Option<T> {
    fn fill(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        *self = Some(T::unmarshal(input)?);
        Ok(())
    }
}

/// Storage for a result whose Rust type alone does not determine its unmarshaling.
pub struct ResultSlotOf<'s, T, F> {
    slot: &'s mut Option<T>,
    read: F,
}

impl<'s, T, F: FnMut(&mut Decoder<'_>) -> Result<T, CdrError>> ResultSlotOf<'s, T, F> {
    /// Creates the storage for a result that `read` unmarshals.
    pub fn new(slot: &'s mut Option<T>, read: F) -> Self {
        Self { slot, read }
    }
}

impl<T, F> fmt::Debug for ResultSlotOf<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultSlotOf")
            .field("is_filled", &self.slot.is_some())
            .finish_non_exhaustive()
    }
}

impl<T, F: FnMut(&mut Decoder<'_>) -> Result<T, CdrError>> ResultSlot for ResultSlotOf<'_, T, F> {
    fn fill(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        *self.slot = Some((self.read)(input)?);
        Ok(())
    }
}

/// Argument whose Rust type alone does not determine its marshaling.
pub struct ArgumentOf<F>(F);

impl<F: Fn(&mut Encoder<'_>) -> Result<(), CdrError>> ArgumentOf<F> {
    /// Creates an argument that the function `write` marshals.
    pub fn new(write: F) -> Self {
        Self(write)
    }
}

impl<F> fmt::Debug for ArgumentOf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgumentOf")
    }
}

impl<F: Fn(&mut Encoder<'_>) -> Result<(), CdrError>> Marshal for ArgumentOf<F> {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        (self.0)(out)
    }
}

/// Function that reads the user exception with the given repository id, if the operation declares
/// it.
type Exceptions<'e> = dyn FnMut(&str, &mut Decoder<'_>) -> Result<bool, CdrError> + 'e;

impl ObjectRef {
    /// Makes a two-way call that declares no user exceptions. For interpreted stubs.
    ///
    /// # Errors
    /// As [`ObjectRef::invoke`].
    #[inline(never)]
    pub fn interpret(
        &self,
        operation: &Operation,
        arguments: &[&dyn Marshal],
        results: &mut [&mut dyn ResultSlot],
    ) -> Result<(), SystemException> {
        self.interpret_call(operation, arguments, results, &mut |_, _| Ok(false))
            .map(|_| ())
    }

    /// Makes a two-way call; if the operation declares the user exception with the given repository
    /// id, `exceptions` reads it into the error to be returned. For interpreted stubs.
    ///
    /// # Errors
    /// As [`ObjectRef::invoke_raising`].
    pub fn interpret_raising<E: From<SystemException>>(
        &self,
        operation: &Operation,
        arguments: &[&dyn Marshal],
        results: &mut [&mut dyn ResultSlot],
        exceptions: impl FnOnce(&str, &mut Decoder<'_>) -> Result<Option<E>, CdrError>,
    ) -> Result<(), E> {
        let (mut exceptions, mut raised) = (Some(exceptions), None);
        self.interpret_call(operation, arguments, results, &mut |id, reply| {
            if let Some(exceptions) = exceptions.take() {
                raised = exceptions(id, reply)?;
            }
            Ok(raised.is_some())
        })?;
        raised.map_or(Ok(()), Err)
    }

    /// Makes a one-way call. For interpreted stubs.
    ///
    /// # Errors
    /// As [`ObjectRef::send`].
    #[inline(never)]
    pub fn interpret_one_way(
        &self,
        operation: &Operation,
        arguments: &[&dyn Marshal],
    ) -> Result<(), SystemException> {
        client::one_way(&self.callee(), operation, &|out| {
            marshal_all(arguments, out)
        })
    }

    /// Makes the call. Returns whether it ended with results.
    #[inline(never)]
    fn interpret_call(
        &self,
        operation: &Operation,
        arguments: &[&dyn Marshal],
        results: &mut [&mut dyn ResultSlot],
        exceptions: &mut Exceptions<'_>,
    ) -> Result<bool, SystemException> {
        let mut outcome = None;
        let read = &mut |body, decoder: &mut Decoder<'_>| {
            outcome = Some(match body {
                Body::Results => fill_all(results, decoder).map(|()| Ok(true)),
                Body::UserException => raise(exceptions, decoder),
            });
        };
        client::invoke(
            &self.callee(),
            operation,
            &|out| marshal_all(arguments, out),
            read,
        )?;
        match outcome {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => Err(unreadable(operation, error)),
            None => Err(client::out_of_place()),
        }
    }
}

/// Returns the result from a slot that a call has filled.
///
/// # Errors
/// COMM_FAILURE if the slot is empty.
pub fn taken<T>(slot: Option<T>) -> Result<T, SystemException> {
    slot.ok_or_else(client::out_of_place)
}

fn marshal_all(arguments: &[&dyn Marshal], out: &mut Encoder<'_>) -> Result<(), CdrError> {
    arguments
        .iter()
        .try_for_each(|argument| argument.marshal(out))
}

fn fill_all(slots: &mut [&mut dyn ResultSlot], reply: &mut Decoder<'_>) -> Result<(), CdrError> {
    slots.iter_mut().try_for_each(|slot| slot.fill(reply))
}

/// Reads the exception in a reply. For a declared exception the slots stay empty; any other
/// exception is an error.
fn raise(
    exceptions: &mut Exceptions<'_>,
    reply: &mut Decoder<'_>,
) -> Result<Result<bool, SystemException>, CdrError> {
    let id = reply.get_string()?;
    let is_declared = exceptions(&id, reply)?;
    Ok(if is_declared {
        Ok(false)
    } else {
        Err(client::unlisted(&id))
    })
}

#[cold]
fn unreadable(operation: &Operation, error: CdrError) -> SystemException {
    unmarshal_exception(error, CompletionStatus::Yes).in_context(format_args!(
        "reading the results of `{}`",
        operation.name()
    ))
}
