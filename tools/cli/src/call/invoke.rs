//! A single call and its result.

use anstyle::AnsiColor;
use punctual::any::TypeKind;
use punctual::description::{OperationDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};
use punctual::json::{Json, OctetForm};
use punctual::{Any, CompletionStatus, ObjectRef, SystemException, SystemExceptionKind, minor};
use serde_json::value::RawValue;

use super::problem::Problem;
use super::target_options::Common;
use super::trace;
use crate::payload::Members;
use crate::shown;

pub(super) fn once(
    object: &ObjectRef,
    operation: &OperationDescription,
    values: Vec<Any>,
    common: &Common,
) -> Result<(), Problem> {
    let mut request = request(object, operation, values)?;
    perform(&mut request, operation, common)?;
    if let Some(json) = results(&request, operation, common)? {
        anstream::println!("{json}");
    }
    Ok(())
}

/// Returns a request with its arguments.
pub(super) fn request(
    object: &ObjectRef,
    operation: &OperationDescription,
    values: Vec<Any>,
) -> Result<Request, Problem> {
    let mut request = Request::of(object, operation);
    let parameters = operation.parameters.iter().enumerate();
    let sent = parameters.filter(|(_, one)| one.mode != ParameterMode::Out);
    for ((index, _), value) in sent.zip(values) {
        request
            .set_argument(index, value)
            .map_err(|exception| Problem::System(exception, None))?;
    }
    Ok(request)
}

/// Makes the call.
pub(super) fn perform(
    request: &mut Request,
    operation: &OperationDescription,
    common: &Common,
) -> Result<(), Problem> {
    trace::sent(request, operation);
    let result = if operation.oneway {
        request.send_oneway().map_err(InvokeError::System)
    } else {
        request.invoke()
    };
    trace::received(request, operation, result.as_ref().err());
    result.map_err(|error| match error {
        InvokeError::System(exception) => {
            let help = help_for(&exception).map(str::to_owned);
            Problem::System(exception, help)
        }
        InvokeError::User(exception) => match user_exception(&exception, common) {
            Ok(json) => Problem::User(json),
            Err(problem) => problem,
        },
    })
}

/// Returns the help for a system exception.
fn help_for(exception: &SystemException) -> Option<&'static str> {
    match exception.kind() {
        SystemExceptionKind::BadOperation => Some(
            "the object does not know the operation: is this its interface? If it is, its servant may have called \
                 another object that does not, and passed the exception on",
        ),
        SystemExceptionKind::Unknown if exception.minor() == minor::SERVANT_PANICKED => Some(
            "the log of the object's server has what the panic says, where it was, and a backtrace",
        ),
        SystemExceptionKind::Unknown => {
            Some("perhaps a user exception that the operation is not declared to raise")
        }
        _ => None,
    }
}

fn user_exception(exception: &Any, common: &Common) -> Result<String, Problem> {
    let type_code = exception.type_code();
    let id = type_code.id().unwrap_or_default();
    let members = raw(exception, common)?;
    let told = [
        ("exception", text(&type_code.to_string())?),
        ("id", text(id)?),
        ("members", members),
    ];
    object(&told, common)
}

fn text(text: &str) -> Result<Box<RawValue>, Problem> {
    serde_json::value::to_raw_value(text).map_err(unreadable)
}

/// Returns the results as JSON: a single one as it is, several by their names.
fn results(
    request: &Request,
    operation: &OperationDescription,
    common: &Common,
) -> Result<Option<String>, Problem> {
    let mut results = Vec::new();
    if operation.result.original_type().kind() != TypeKind::Void {
        results.push(("$result", request.return_value()));
    }
    for argument in request.arguments() {
        if let (ParameterMode::Out | ParameterMode::InOut, Some(value)) =
            (argument.mode(), argument.value())
        {
            results.push((argument.name(), value));
        }
    }
    if let [(_, value)] = results.as_slice() {
        let value = value
            .value()
            .map_err(unreadable)
            .map(|content| (value, content))?;
        return printed(&json(value.0, &value.1, common), common).map(Some);
    }
    if results.is_empty() {
        return Ok(None);
    }
    let named: Result<Vec<_>, Problem> = results
        .into_iter()
        .map(|(name, value)| Ok((name, raw(value, common)?)))
        .collect();
    object(&named?, common).map(Some)
}

fn json<'v>(any: &'v Any, value: &'v punctual::any::Value, common: &Common) -> Json<'v> {
    Json::new(any.type_code(), value).octets(OctetForm::from(common.octets))
}

/// Returns a value as JSON to be embedded in more JSON.
fn raw(any: &Any, common: &Common) -> Result<Box<RawValue>, Problem> {
    let value = any.value().map_err(unreadable)?;
    serde_json::value::to_raw_value(&json(any, &value, common)).map_err(unreadable)
}

/// Returns a JSON object with its members in this order.
fn object(members: &[(&str, Box<RawValue>)], common: &Common) -> Result<String, Problem> {
    printed(&Members(members), common)
}

/// Formats JSON for output, with the names of members in colour on a terminal.
fn printed(value: &impl serde::Serialize, common: &Common) -> Result<String, Problem> {
    let compact = serde_json::to_string(value).map_err(unreadable)?;
    let compact = shown::json(compact);
    Ok(super::show::json(&compact, common.compact, AnsiColor::Cyan))
}

/// Returns the problem of a result that is not a value of its type; the call was made.
fn unreadable(error: impl std::fmt::Display) -> Problem {
    let exception = SystemException::new(
        SystemExceptionKind::Marshal,
        minor::ENCODING,
        CompletionStatus::Yes,
    );
    let exception = exception.with_detail(format!("the result cannot be displayed: {error}"));
    Problem::System(exception, None)
}
