//! Servant of the dynamic skeleton interface: the first octet of a request selects what it does.

use super::{Empty, Every};
use punctual::description::{OperationDescription, ParameterDescription, ParameterMode};
use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::stub::{Arc, DispatchError, Dispatched, Implements, Servant};
use punctual::{Any, Interface, TypeCode};
use std::borrow::Cow;

pub(super) struct Dynamic;

impl Implements<Dynamic> for Every {
    fn servant(servant: Dynamic) -> Arc<dyn Servant> {
        dynamic_servant(servant)
    }
}

impl DynamicImplementation for Dynamic {
    fn primary_interface(&self) -> Cow<'_, str> {
        Every::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        assert!(!format!("{request:?}").is_empty());
        let types = [TypeCode::OCTET, TypeCode::sequence(&TypeCode::OCTET, 0)];
        let values = match request.operation() {
            // Interceptors know all of the operation, or the arguments alone.
            "told" => request.arguments_of(&described(types))?,
            // Interceptors see the request when it is answered.
            "unread" => return request.reply(&[]),
            _ => request.arguments(&types)?,
        };
        match values.first().map(Any::extract::<u8>) {
            Some(Ok(0)) => request.reply(&values),
            Some(Ok(1)) => request.raise(&Any::new(&Empty {})?),
            _ => Err(request.bad_operation()),
        }
    }
}

/// Returns the description of an operation, given its parameters' types.
fn described(types: [TypeCode; 2]) -> OperationDescription {
    let parameters = types.map(|type_code| ParameterDescription {
        name: "one".to_owned(),
        type_code,
        mode: ParameterMode::InOut,
    });
    OperationDescription {
        name: "told".to_owned(),
        id: "IDL:told:1.0".to_owned(),
        oneway: false,
        result: TypeCode::VOID,
        parameters: parameters.into(),
        exceptions: Vec::new(),
        contexts: Vec::new(),
    }
}
