//! Unmarshaling of the Interface Repository's description structs.

use punctual_any::{
    AttributeDescription, ExceptionDescription, InterfaceDescription, OperationDescription,
    ParameterDescription, ParameterMode, TypeCode,
};
use punctual_cdr::{CdrError, Decoder, Unmarshal, unmarshal_each};
use punctual_ior::Ior;

/// Least size of a description on the wire, in bytes: that of three empty strings.
const LEAST: usize = 15;

/// Reads a `FullInterfaceDescription`. CORBA 2's additions behind its TypeCode are ignored.
pub(super) fn full_interface(input: &mut Decoder<'_>) -> Result<InterfaceDescription, CdrError> {
    Ok(InterfaceDescription {
        name: text(input)?,
        id: text(input)?,
        defined_in: text(input)?,
        version: text(input)?,
        operations: unmarshal_each(input, LEAST, operation)?,
        attributes: unmarshal_each(input, LEAST, attribute)?,
        bases: unmarshal_each(input, 4, text)?,
        type_code: TypeCode::unmarshal(input)?,
    })
}

fn operation(input: &mut Decoder<'_>) -> Result<OperationDescription, CdrError> {
    let (name, id) = named(input)?;
    Ok(OperationDescription {
        name,
        id,
        result: TypeCode::unmarshal(input)?,
        oneway: mode(input, 1)? == 1,
        contexts: unmarshal_each(input, 4, text)?,
        parameters: unmarshal_each(input, LEAST, parameter)?,
        exceptions: unmarshal_each(input, LEAST, exception)?,
    })
}

/// Reads the fields with which each description begins: name and id, then container and version.
fn named(input: &mut Decoder<'_>) -> Result<(String, String), CdrError> {
    let (name, id) = (text(input)?, text(input)?);
    input.get_string()?;
    input.get_string()?;
    Ok((name, id))
}

/// Reads a name, an id or a version. Control characters are an error, as the text is shown on
/// terminals.
pub(super) fn text(input: &mut Decoder<'_>) -> Result<String, CdrError> {
    let text = String::unmarshal(input)?;
    match text.chars().any(char::is_control) {
        true => Err(CdrError::Invalid("a control character in a name")),
        false => Ok(text),
    }
}

/// Reads an enumerator's number; one above `most` is an error.
fn mode(input: &mut Decoder<'_>, most: u32) -> Result<u32, CdrError> {
    let mode = input.get_u32()?;
    if mode > most {
        return Err(CdrError::UnknownEnumerator(mode));
    }
    Ok(mode)
}

fn parameter(input: &mut Decoder<'_>) -> Result<ParameterDescription, CdrError> {
    let name = text(input)?;
    let type_code = TypeCode::unmarshal(input)?;
    // The type as an object of the repository.
    Ior::unmarshal(input)?;
    let mode = match mode(input, 2)? {
        0 => ParameterMode::In,
        1 => ParameterMode::Out,
        _ => ParameterMode::InOut,
    };
    Ok(ParameterDescription {
        name,
        type_code,
        mode,
    })
}

fn exception(input: &mut Decoder<'_>) -> Result<ExceptionDescription, CdrError> {
    let (name, id) = named(input)?;
    Ok(ExceptionDescription {
        name,
        id,
        type_code: TypeCode::unmarshal(input)?,
    })
}

fn attribute(input: &mut Decoder<'_>) -> Result<AttributeDescription, CdrError> {
    let (name, id) = named(input)?;
    Ok(AttributeDescription {
        name,
        id,
        type_code: TypeCode::unmarshal(input)?,
        readonly: mode(input, 1)? == 1,
        get_exceptions: Vec::new(),
        put_exceptions: Vec::new(),
    })
}
