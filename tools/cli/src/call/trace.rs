//! With `-ORBTrace payload`: what a call carries, as values. The ORB's own trace has the octets, as it knows no types.

use punctual::description::{OperationDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};

use crate::payload;

/// Shows the arguments that a request is about to take along.
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

/// Shows what a reply has brought.
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
