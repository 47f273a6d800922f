//! Parsing of arguments given on the command line.

use std::io::Read;

use punctual::Any;
use punctual::description::{OperationDescription, ParameterDescription, ParameterMode};
use punctual::json::{any_from_json, any_from_json_text, members_of_json, nearest};

use super::names::Types;
use super::problem::Problem;
use super::show;

/// Returns the values of positional arguments, each given as JSON.
pub(super) fn in_order(
    operation: &OperationDescription,
    given: &[String],
    names: &Types<'_>,
) -> Result<Vec<Any>, Problem> {
    let parameters = sent(operation);
    if given.len() != parameters.len() {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let message = format!(
            "`{}` takes {}, not {}",
            operation.name,
            count(parameters.len(), "argument"),
            given.len()
        );
        let help = format!("it is `{}`", show::signature(operation));
        return Err(Problem::Usage(message, Some(help)));
    }
    let pairs = parameters.into_iter().zip(given);
    pairs
        .map(|(parameter, text)| {
            let what = format!("argument `{}`", parameter.name);
            let any = any_from_json_text(&parameter.type_code, text, names);
            any.map_err(|error| Problem::json(&what, error))
        })
        .collect()
}

/// Returns the values of arguments given by name in one JSON object.
pub(super) fn by_name(
    operation: &OperationDescription,
    data: &str,
    names: &Types<'_>,
) -> Result<Vec<Any>, Problem> {
    let text = read(data)?;
    let wrong = |message: String| {
        let help = format!("it is `{}`", show::signature(operation));
        Problem::Usage(format!("the arguments: {message}"), Some(help))
    };
    let given = members_of_json(&text).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let Some(given) = given else {
        return Err(wrong(
            "expected an object with the parameters' names as keys".to_owned(),
        ));
    };
    let parameters = sent(operation);
    for name in given.keys() {
        if !parameters.iter().any(|one| one.name == **name) {
            let near = nearest(name, parameters.iter().map(|one| one.name.as_str()));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(wrong(format!("unknown parameter `{name}`{hint}")));
        }
    }
    let value = |parameter: &ParameterDescription| {
        let json = given.get(parameter.name.as_str());
        let json = json.ok_or_else(|| wrong(format!("`{}` is missing", parameter.name)))?;
        let what = format!("argument `{}`", parameter.name);
        let any = any_from_json(&parameter.type_code, json, names);
        any.map_err(|error| Problem::json(&what, error))
    };
    parameters.into_iter().map(value).collect()
}

/// Returns the parameters that are sent to the object.
fn sent(operation: &OperationDescription) -> Vec<&ParameterDescription> {
    let parameters = operation.parameters.iter();
    parameters
        .filter(|one| one.mode != ParameterMode::Out)
        .collect()
}

/// Returns the text given by `-d`: literally, from a file, or from standard input.
fn read(data: &str) -> Result<String, Problem> {
    if data == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        return match read {
            Ok(_) => Ok(text),
            Err(error) => Err(Problem::Usage(format!("standard input: {error}"), None)),
        };
    }
    match data.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Problem::Usage(format!("{path}: {error}"), None)),
        None => Ok(data.to_owned()),
    }
}
