//! Dynamic Invocation Interface: requests that are built at run time (CORBA 3.3 part 1, §11.2).
//!
//! A request can be sent repeatedly. When its arguments are overwritten in place, this allocates
//! nothing, as it keeps the buffers of its arguments and results and the preparations of a call.

mod argument;
mod deferred;
mod details;
mod error;
mod handled;
mod multiple;
mod phase;

pub use argument::Argument;
pub use error::InvokeError;
pub use multiple::{DeferredRequests, DeferredResponse, MultipleRequests};

use argument::{mismatch, missing};
use details::Details;
use phase::Phase;
use punctual_any::{Any, OperationDescription, ParameterMode, TypeCode};
use punctual_orb::{Context, Interface, NamedOperation, ObjectRef, SystemException};
use std::fmt;
use std::sync::Arc;

/// Request that is built at run time: CORBA's `Request`.
///
/// ```no_run
/// # use punctual_dynamic::{Request, InvokeError};
/// # use punctual_any::{Any, TypeCode, Typed};
/// # fn call(cubit: &punctual_orb::ObjectRef) -> Result<(), Box<dyn std::error::Error>> {
/// let mut request = Request::new(cubit, "cube_long");
/// request.add_in("l", Any::new(&3)?).set_return_type(&i32::type_code());
/// request.invoke()?;
/// assert_eq!(request.return_value().extract::<i32>()?, 27);
/// # Ok(()) }
/// ```
pub struct Request {
    object: ObjectRef,
    operation: Arc<str>,
    details: Details,
    return_value: Any,
    /// Buffers that receive returned `inout` and `out` values until the whole reply has been read.
    returned: Vec<Any>,
    /// Current phase of the request, if it was sent deferred.
    phase: Phase,
}

impl Request {
    /// Makes a request for an operation, with no arguments yet, and no result (`create_request`).
    ///
    /// An attribute is read by `_get_NAME` and written by `_set_NAME`.
    #[must_use]
    pub fn new(object: &impl Interface, operation: &str) -> Self {
        let object = object.as_object().clone();
        Self {
            operation: object.orb().operation_name(operation),
            object,
            details: Details::none(),
            return_value: Any::default(),
            returned: Vec::new(),
            phase: Phase::default(),
        }
    }

    /// Makes a request for a described operation: its arguments have no values yet.
    #[must_use]
    pub fn of(object: &impl Interface, operation: &OperationDescription) -> Self {
        let mut this = Self::new(object, &operation.name);
        for parameter in &operation.parameters {
            let argument = Argument::new(&parameter.name, parameter.mode, &parameter.type_code);
            this.details.arguments.push(argument);
        }
        this.details.return_type = operation.result.clone();
        for exception in &operation.exceptions {
            this.details.exceptions.push(exception.type_code.clone());
        }
        if !operation.contexts.is_empty() {
            this.details.context = Some((operation.contexts.clone(), Context::new()));
        }
        this
    }

    /// Returns the object on which the request is invoked.
    #[must_use]
    pub fn target(&self) -> &ObjectRef {
        &self.object
    }

    /// Returns the name of the operation to invoke.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Adds an `in` argument to the request.
    pub fn add_in(&mut self, name: &str, value: Any) -> &mut Self {
        self.add(Argument::with_value(name, ParameterMode::In, value))
    }

    /// Adds an `inout` argument to the request.
    pub fn add_inout(&mut self, name: &str, value: Any) -> &mut Self {
        self.add(Argument::with_value(name, ParameterMode::InOut, value))
    }

    /// Adds an `out` argument to the request.
    pub fn add_out(&mut self, name: &str, type_code: &TypeCode) -> &mut Self {
        self.add(Argument::new(name, ParameterMode::Out, type_code))
    }

    fn add(&mut self, argument: Argument) -> &mut Self {
        self.details.arguments.push(argument);
        self
    }

    /// Sets the type of the return value (`set_return_type`). Default: void.
    pub fn set_return_type(&mut self, type_code: &TypeCode) -> &mut Self {
        self.details.return_type = type_code.clone();
        self
    }

    /// Adds a user exception that the operation may raise (`ExceptionList`). Other user exceptions
    /// arrive as UNKNOWN.
    pub fn add_exception(&mut self, type_code: &TypeCode) -> &mut Self {
        self.details.exceptions.push(type_code.clone());
        self
    }

    /// Adds the context values whose names match one of the patterns of the operation's `context`
    /// clause.
    pub fn set_context(&mut self, patterns: &[&str], context: Context) -> &mut Self {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        self.details.context = Some((patterns, context));
        self
    }

    /// Returns the arguments of the request, in the order of the parameters.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        &self.details.arguments
    }

    /// Sets an argument's value.
    ///
    /// # Errors
    /// BAD_PARAM if there is no such argument, or it is of another type.
    pub fn set_argument(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        let found = self.details.arguments.get_mut(index);
        let argument = found.ok_or_else(|| missing(index, &self.operation))?;
        if !argument.type_code().equivalent(value.type_code()) {
            return Err(mismatch(argument, value.type_code()));
        }
        argument.set_value(value);
        Ok(())
    }

    /// Returns an argument's value for overwriting it in place.
    #[must_use]
    pub fn argument_mut(&mut self, index: usize) -> Option<&mut Any> {
        self.details.arguments.get_mut(index)?.value_mut()
    }

    /// Returns the value of an argument: the given one, or the returned one.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&Any> {
        self.details.arguments.get(index)?.value()
    }

    /// Returns the last call's return value; void if that could not be read.
    #[must_use]
    pub fn return_value(&self) -> &Any {
        &self.return_value
    }

    /// Makes the call, and waits until its reply arrives or its time-out passes. `out` and `inout`
    /// arguments then have the returned values; after an exception all have their former ones.
    ///
    /// # Errors
    /// [`InvokeError::User`] with a user exception that the request expects;
    /// [`InvokeError::System`] with any other, and with BAD_PARAM for an argument that has no
    /// value.
    pub fn invoke(&mut self) -> Result<(), InvokeError> {
        self.check()?;
        self.make_places();
        let details = &self.details;
        let operation = NamedOperation::named(&self.operation, true).with_details(details);
        let places = (&mut self.return_value, &mut self.returned[..]);
        self.object.invoke_raising(
            &operation,
            |out| details.put(out),
            |reply| details.read(places, reply),
            |id, reply| details.raised(id, reply),
        )?;
        self.take_returned();
        Ok(())
    }

    /// Makes a buffer for each argument that the reply may return.
    #[inline]
    fn make_places(&mut self) {
        let arguments = self.details.arguments.len();
        self.returned.resize_with(arguments, Any::default);
    }

    /// Moves the returned values to their arguments, once all of a reply has been read.
    fn take_returned(&mut self) {
        let incoming = self.details.arguments.iter_mut().zip(&mut self.returned);
        for (argument, place) in incoming.filter(|(argument, _)| argument.comes_back()) {
            argument.exchange_value(place);
        }
    }

    /// Sends the request, and waits for no reply (`send_oneway`).
    ///
    /// # Errors
    /// Errors in sending, as far as the one-way's reliability reports them; BAD_PARAM for an
    /// argument that has no value, or that would have to be returned.
    pub fn send_oneway(&self) -> Result<(), SystemException> {
        self.check()?;
        if let Some(argument) = self.details.arguments.iter().find(|one| one.comes_back()) {
            return Err(argument::comes_back_oneway(argument));
        }
        let details = &self.details;
        let operation = NamedOperation::named(&self.operation, false).with_details(details);
        self.object.send(&operation, |out| details.put(out))
    }

    // Inlined into a synchronous call; deferred ones call it.
    #[inline(always)]
    fn check(&self) -> Result<(), SystemException> {
        let mut outgoing = self.details.arguments.iter().filter(|one| one.goes_out());
        outgoing.try_for_each(|argument| match argument.value() {
            None => Err(argument::missing_value_error(argument)),
            Some(value) if !argument.type_code().equivalent(value.type_code()) => {
                Err(mismatch(argument, value.type_code()))
            }
            Some(_) => Ok(()),
        })
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("operation", &self.operation)
            .field("arguments", &self.details.arguments)
            .field("return_type", &self.details.return_type)
            .finish_non_exhaustive()
    }
}
