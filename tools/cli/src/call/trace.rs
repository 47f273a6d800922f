//! Tracing of a call's values with `-ORBTrace payload`. The ORB's own trace has only the bytes, as
//! it knows no types.

use punctual::description::{OperationDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};

use crate::payload;

/// Prints the arguments of a request that is about to be sent.
pub(super) fn sent(request: &Request, operation: &OperationDescription) {
    if !is_on(request) {
        return;
    }
    for argument in request.arguments() {
        if let (ParameterMode::In | ParameterMode::InOut, Some(value)) =
            (argument.mode(), argument.value())
        {
            let line = payload::line("->", &operation.name, argument.name(), value);
            eprintln!("{line}");
        }
    }
}

/// Prints the values of a reply.
pub(super) fn received(
    request: &Request,
    operation: &OperationDescription,
    error: Option<&InvokeError>,
) {
    if !is_on(request) || operation.oneway {
        return;
    }
    let line = |name: &str, value| payload::line("<-", &operation.name, name, value);
    match error {
        Some(InvokeError::User(exception)) => eprintln!("{}", line("$exception", exception)),
        Some(InvokeError::System(exception)) => {
            eprintln!("{}", payload::exception("<-", &operation.name, exception));
        }
        None => {
            eprintln!("{}", line("$result", request.return_value()));
            for argument in request.arguments() {
                if let (ParameterMode::Out | ParameterMode::InOut, Some(value)) =
                    (argument.mode(), argument.value())
                {
                    eprintln!("{}", line(argument.name(), value));
                }
            }
        }
    }
}

fn is_on(request: &Request) -> bool {
    request.target().orb().config().trace.payload
}
