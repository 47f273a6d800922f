//! Delivery of responses to reply handlers (CORBA 3.3 part 1, §11.2.2.7 and §17.8): objects whose
//! interface is implied by that of the called object.
//!
//! ```text
//! long op(in long a, inout long b, out long c)   op(in long ami_return_val, in long b, in long c)
//!                                                op_excep(in Messaging::ExceptionHolder excep_holder)
//! attribute long x                               get_x(in long ami_return_val), set_x(), get_x_excep(…), set_x_excep(…)
//! ```

use super::Request;
use super::error::InvokeError;
use punctual_any::Any;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal};
use punctual_orb::{
    ExceptionHolder, NamedOperation, ObjectRef, OperationError, SystemException, delivered,
};

/// Calls the reply handler with the request's results, or with its exception.
pub(super) fn deliver(handler: &ObjectRef, request: &Request, outcome: Result<(), InvokeError>) {
    // An attribute's operations are `_get_x` and `_set_x` in requests.
    let name = request.operation();
    let name = match name.strip_prefix('_') {
        Some(of_attribute) => of_attribute,
        None => name,
    };
    let delivered_to = match outcome {
        Ok(()) => call(handler, name, |out| {
            let results = results(request);
            results
                .into_iter()
                .try_for_each(|value| value.marshal_value(out))
        }),
        Err(error) => ExceptionHolder::new(&error, handler.orb()).and_then(|holder| {
            call(handler, &format!("{name}_excep"), |out| {
                Some(holder.clone()).marshal(out)
            })
        }),
    };
    delivered(delivered_to, handler.type_id());
}

/// Returns the return value, and the `inout` and `out` values, in order.
fn results(request: &Request) -> Vec<&Any> {
    let arguments = request.arguments().iter().filter(|one| one.comes_back());
    let returned = arguments.filter_map(|argument| argument.value());
    std::iter::once(request.return_value())
        .chain(returned)
        .collect()
}

fn call(
    handler: &ObjectRef,
    name: &str,
    arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), SystemException> {
    let name = handler.orb().operation_name(name);
    let operation = NamedOperation::named(&name, true);
    handler.invoke_raising(
        &operation,
        arguments,
        |_| Ok(()),
        |_, _| Ok(None::<SystemException>),
    )
}

/// Access to the exceptions that an exception holder of an asynchronous call contains.
impl OperationError for InvokeError {
    fn system(&self) -> Option<&SystemException> {
        match self {
            Self::System(exception) => Some(exception),
            Self::User(_) => None,
        }
    }

    /// Returns `None`: only the request knows which exceptions its operation raises.
    fn raised(_: &str, _: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        Ok(None)
    }

    fn marshal_raised(&self, body: &mut Encoder<'_>) -> Result<bool, CdrError> {
        let Self::User(exception) = self else {
            return Ok(false);
        };
        let id = exception.type_code().id();
        let id = id.map_err(|_| CdrError::Invalid("the raised value is not an exception"))?;
        body.put_string(id)?;
        exception.marshal_members(body)?;
        Ok(true)
    }
}
