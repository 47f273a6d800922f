//! With `-ORBTrace payload`: what a call carries, as values. The ORB's own trace has the octets, as it knows no types.

use punctual::json::Json;
use punctual::{Any, InvokeError, OperationDescription, ParameterMode, Request};
use serde_json::value::RawValue;

/// Shows the arguments that a request is about to take along.
pub(super) fn sent(request: &Request, operation: &OperationDescription) {
    if !is_on(request) {
        return;
    }
    for argument in request.arguments() {
        if let (ParameterMode::In | ParameterMode::InOut, Some(value)) =
            (argument.mode(), argument.value())
        {
            line("->", operation, argument.name(), value);
        }
    }
}

/// Shows what a reply has brought.
pub(super) fn received(
    request: &Request,
    operation: &OperationDescription,
    error: Option<&InvokeError>,
) {
    if !is_on(request) || operation.oneway {
        return;
    }
    match error {
        Some(InvokeError::User(exception)) => line("<-", operation, "$exception", exception),
        Some(InvokeError::System(exception)) => {
            eprintln!("payload <- {}: {exception}", operation.name);
        }
        None => {
            line("<-", operation, "$result", request.return_value());
            for argument in request.arguments() {
                if let (ParameterMode::Out | ParameterMode::InOut, Some(value)) =
                    (argument.mode(), argument.value())
                {
                    line("<-", operation, argument.name(), value);
                }
            }
        }
    }
}

fn is_on(request: &Request) -> bool {
    request.target().orb().config().trace.payload
}

fn line(way: &str, operation: &OperationDescription, name: &str, value: &Any) {
    let type_code = value.type_code();
    let json = value.value().map_err(|error| error.to_string());
    let json = json.and_then(|value| {
        let json = serde_json::value::to_raw_value(&Json::new(type_code, &value));
        json.map_err(|error| error.to_string())
    });
    let shown = json.as_deref().map_or_else(|error| error, RawValue::get);
    eprintln!(
        "payload {way} {}: {type_code} {name} = {shown}",
        operation.name
    );
}
