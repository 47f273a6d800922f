//! `Messaging::ExceptionHolder`: an exception as a value, passed to a reply handler (CORBA 3.3 part
//! 1, §17.7).
//!
//! It holds the exception as the body of a reply would: a repository id, then the members of a user
//! exception, or minor code and completion status of a system exception. The byte order is a
//! separate member, as in the standard's `valuetype`, which has `boolean is_system_exception`,
//! `boolean byte_order` (TRUE: little-endian) and `sequence<octet> marshaled_exception`.

use crate::client;
use crate::exception::{
    CompletionStatus, OperationError, SystemException, SystemExceptionKind, cdr_exception,
    unmarshal_exception,
};
use crate::orb::{Orb, WeakOrb};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Formal, FormalValue, Graph, Marshal,
    ReadStep, Unmarshal, ValueFactory, ValueRef, ValueState, ValueType, WriteStep, value_handle,
};
use std::any::{Any, TypeId};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

/// Handle to an exception that is passed as a value (`IDL:omg.org/Messaging/ExceptionHolder:1.0`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionHolder(ValueRef);

value_handle!(
    ExceptionHolder,
    "IDL:omg.org/Messaging/ExceptionHolder:1.0",
    [],
    [],
    [],
    factory ExceptionHolderFactory
);

impl ExceptionHolder {
    /// Creates a holder of the exception of a call. `orb` is the ORB that references in the
    /// exception belong to.
    ///
    /// # Errors
    /// The reason why the members of a user exception cannot be marshaled.
    pub fn new<E: OperationError>(error: &E, orb: &Orb) -> Result<Self, SystemException> {
        let write = || {
            let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, coding(Some(orb)));
            let is_user = error.system().is_none() && error.marshal_raised(&mut out)?;
            if !is_user {
                marshal_system(&as_system(error), &mut out)?;
            }
            Ok((is_user, out.into_block()))
        };
        let (is_user, body) =
            write().map_err(|error| cdr_exception(error, CompletionStatus::Yes))?;
        let state = State {
            is_system_exception: !is_user,
            is_little_endian: ByteOrder::NATIVE == ByteOrder::Little,
            body: body.to_vec(),
            orb: Some(orb.downgrade()),
        };
        let factory = Arc::new(ExceptionHolderFactory);
        Ok(Self(ValueRef::new(factory, Box::new(state))))
    }

    /// Returns whether it holds a system exception, rather than a user exception of the operation.
    #[must_use]
    pub fn is_system_exception(&self) -> bool {
        self.0.read(|state: &State| state.is_system_exception)
    }

    /// Returns the exception as the operation's error type:
    /// `holder.exception::<ClerkCopiesError>()`.
    ///
    /// A user exception that the operation does not declare becomes UNKNOWN; one that cannot be
    /// read becomes MARSHAL.
    #[must_use]
    pub fn exception<E: OperationError>(&self) -> E {
        let state = self.0.read(State::clone);
        state.exception().unwrap_or_else(|error| {
            let exception = unmarshal_exception(error, CompletionStatus::Yes);
            exception.in_context("reading an exception holder").into()
        })
    }

    /// Returns the exception as an error, for `?` (`raise_exception`, `raise_exception_with_list`).
    ///
    /// # Errors
    /// Always: the exception.
    pub fn raise<E: OperationError>(&self) -> Result<Infallible, E> {
        Err(self.exception())
    }
}

/// Returns the error as a system exception, if it is not a user exception of the operation.
fn as_system<E: OperationError>(error: &E) -> SystemException {
    error.system().cloned().unwrap_or_else(|| {
        // An exception of a native type does not leave its process (CORBA 3.3 part 1, Annex A,
        // UNKNOWN).
        SystemExceptionKind::Unknown.because(error.to_string())
    })
}

fn marshal_system(exception: &SystemException, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string(exception.kind().repository_id())?;
    out.put_u32(exception.minor());
    out.put_u32(exception.completed().number());
    Ok(())
}

fn coding(orb: Option<&Orb>) -> Coding<'_> {
    match orb {
        Some(orb) => Coding {
            limits: orb.broker().limits(),
            environment: Some(orb),
            ..Coding::default()
        },
        None => Coding::default(),
    }
}

/// Members of the value, and the ORB that has decoded them.
#[derive(Clone, Default)]
struct State {
    is_system_exception: bool,
    is_little_endian: bool,
    body: Vec<u8>,
    orb: Option<WeakOrb>,
}

impl State {
    fn exception<E: OperationError>(&self) -> Result<E, CdrError> {
        let order = match self.is_little_endian {
            true => ByteOrder::Little,
            false => ByteOrder::Big,
        };
        let orb = self.orb.as_ref().and_then(WeakOrb::upgrade);
        let mut body = Decoder::new(&self.body, order, coding(orb.as_ref()));
        let id = body.get_string()?.into_owned();
        if self.is_system_exception {
            let kind = SystemExceptionKind::from_repository_id(&id);
            let (minor, completed) = (body.get_u32()?, body.get_u32()?);
            let kind = kind.unwrap_or(SystemExceptionKind::Unknown);
            let completed = CompletionStatus::from_number(completed);
            return Ok(SystemException::new(kind, minor, completed).into());
        }
        let raised = E::raised(&id, &mut body)?;
        Ok(raised.unwrap_or_else(|| client::unlisted(&id).into()))
    }
}

impl ValueState for State {
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        if step > 0 {
            return Ok(WriteStep::End);
        }
        self.is_system_exception.marshal(out)?;
        self.is_little_endian.marshal(out)?;
        out.put_octets(&self.body)?;
        Ok(WriteStep::Wrote)
    }

    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
        if step > 0 {
            return Ok(ReadStep::End);
        }
        self.is_system_exception = bool::unmarshal(input)?;
        self.is_little_endian = bool::unmarshal(input)?;
        self.body = input.get_octets()?.to_vec();
        self.orb = input.environment::<Orb>().map(Orb::downgrade);
        Ok(ReadStep::Read)
    }

    fn formal(&self, _: usize) -> &dyn FormalValue {
        const { &Formal::<ValueRef>::new() }
    }

    fn link(&mut self, _: usize, _: Option<ValueRef>) {}

    fn adopt(&mut self, _: &Graph) {}

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self as &dyn Any)
    }

    fn part_mut(&mut self, wanted: TypeId) -> Option<&mut dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self as &mut dyn Any)
    }
}

/// Factory that creates received exception holders. It needs no registration with an ORB.
struct ExceptionHolderFactory;

impl fmt::Debug for ExceptionHolderFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExceptionHolderFactory")
    }
}

impl ValueFactory for ExceptionHolderFactory {
    fn repository_id(&self) -> &str {
        ExceptionHolder::REPOSITORY_ID
    }

    fn kinds(&self) -> &[TypeId] {
        ExceptionHolder::KINDS
    }

    fn create(&self) -> Box<dyn ValueState> {
        Box::<State>::default()
    }
}
