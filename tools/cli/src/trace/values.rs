//! Decoding of a body's bytes by an operation that they may belong to.

use std::rc::Rc;

use punctual::description::{OperationDescription, ParameterMode};
use punctual::{Any, Context, SystemException, TypeCode};
use punctual_cdr::{
    ByteOrder, CdrError, CodeSets, Coding, Decoder, Environment, GiopVersion, Limits,
    NarrowCodeSet, Unmarshal, WideCodeSet,
};

use super::known::{Candidate, KnownDeclarations};
use super::log::{Body, Message};

/// A value and its name: a parameter's, or `$result`.
pub(super) type Named = (String, Any);

/// An operation whose types, decoded from a body, end exactly at the body's end.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) candidate: Rc<Candidate>,
    pub(super) values: Vec<Named>,
}

/// Contents of a body: arguments or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    Arguments,
    Results,
}

/// Bytes of a body, with everything except types that decoding depends on.
pub(super) struct Encoded<'m> {
    /// Bytes of the message; those before the body are zero, as only its alignment matters.
    octets: Vec<u8>,
    body: &'m Body,
    version: GiopVersion,
    order: ByteOrder,
    /// Possible code sets of text, the likeliest first.
    code_sets: Vec<CodeSets>,
    environment: &'m dyn Environment,
}

impl<'m> Encoded<'m> {
    pub(super) fn new(
        message: &Message,
        body: &'m Body,
        agreed: Option<CodeSets>,
        known: &'m KnownDeclarations,
    ) -> Self {
        let mut octets = vec![0; body.at];
        octets.extend_from_slice(&body.octets);
        Self {
            octets,
            body,
            version: message.version,
            order: message.order,
            code_sets: code_sets(message.version, agreed),
            environment: known.environment(),
        }
    }

    fn decoder(&self, code_sets: CodeSets) -> Decoder<'_> {
        let coding = Coding {
            version: self.version,
            code_sets,
            limits: &Limits::DEFAULT,
            environment: Some(self.environment),
        };
        if self.body.seams.is_empty() {
            return Decoder::at(&self.octets, self.body.at, self.order, coding);
        }
        let seams = &self.body.seams;
        let mut decoder = Decoder::with_seams(&self.octets, seams, self.order, coding);
        // The bytes before the body exist.
        let _ = decoder.skip(self.body.at);
        decoder
    }

    /// Decodes with the first code sets for which that succeeds; otherwise returns the error with
    /// the likeliest ones.
    fn read<T>(&self, read: impl Fn(Decoder<'_>) -> Result<T, String>) -> Result<T, String> {
        let mut wrong = None;
        for code_sets in &self.code_sets {
            match read(self.decoder(*code_sets)) {
                Ok(found) => return Ok(found),
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        Err(wrong.unwrap_or_default())
    }

    /// Returns the operations whose types fit the body; if none does, the reason.
    pub(super) fn fits(
        &self,
        candidates: &[Rc<Candidate>],
        holds: BodyKind,
    ) -> Result<Vec<Fit>, String> {
        let all = |decoder: Decoder<'_>| {
            let (mut fits, mut reasons) = (Vec::new(), Vec::new());
            for candidate in candidates {
                match values(&candidate.operation, holds, decoder.clone()) {
                    Ok(values) => fits.push(Fit {
                        candidate: candidate.clone(),
                        values,
                    }),
                    Err(reason) => reasons.push(format!("{}: {reason}", candidate.interface)),
                }
            }
            match fits.is_empty() {
                true => Err(reasons.join("; ")),
                false => Ok(fits),
            }
        };
        self.read(all)
    }

    /// Returns the user exception, if its type is known.
    pub(super) fn user_exception(&self, known: &KnownDeclarations) -> Result<Any, String> {
        self.read(|mut decoder| {
            let id = decoder.get_string().map_err(text)?;
            let type_code = known.exception(&id);
            let type_code = type_code.ok_or_else(|| format!("`{id}` is not declared"))?;
            let exception = Any::unmarshal_exception(type_code, &decoder).map_err(text)?;
            exception.value().map_err(text)?;
            Ok(exception)
        })
    }

    pub(super) fn system_exception(&self) -> Result<SystemException, String> {
        self.read(|mut decoder| SystemException::received(&mut decoder).map_err(text))
    }
}

/// Returns the possible code sets of text. GIOP 1.0 has ISO 8859-1 only. If the log begins after
/// the request that named the code sets, they are most likely Punctual's own; text that is not
/// UTF-8 is then decoded as ISO 8859-1.
fn code_sets(version: GiopVersion, agreed: Option<CodeSets>) -> Vec<CodeSets> {
    match (version, agreed) {
        (GiopVersion::V1_0, _) => vec![CodeSets::UNNEGOTIATED],
        (_, Some(agreed)) => vec![agreed],
        (_, None) => {
            let latin = CodeSets {
                narrow: NarrowCodeSet::Iso8859_1,
                wide: Some(WideCodeSet::Utf16),
            };
            vec![CodeSets::NATIVE, latin]
        }
    }
}

fn values(
    operation: &OperationDescription,
    holds: BodyKind,
    mut input: Decoder<'_>,
) -> Result<Vec<Named>, String> {
    let input = &mut input;
    let other = match holds {
        BodyKind::Arguments => ParameterMode::Out,
        BodyKind::Results => ParameterMode::In,
    };
    let parameters = operation.parameters.iter().filter(|one| one.mode != other);
    let mut values = Vec::new();
    if holds == BodyKind::Results {
        values.push(named("$result", &operation.result, input)?);
    }
    for parameter in parameters {
        values.push(named(&parameter.name, &parameter.type_code, input)?);
    }
    if holds == BodyKind::Arguments && !operation.contexts.is_empty() {
        Context::unmarshal(input).map_err(|error| format!("its context: {error}"))?;
    }
    match input.remaining() {
        0 => Ok(values),
        octets => Err(format!("{octets} octets are left over")),
    }
}

fn named(name: &str, type_code: &TypeCode, input: &mut Decoder<'_>) -> Result<Named, String> {
    let wrong = |error: CdrError| format!("`{name}`: {error}");
    let mut value = Any::default();
    value.unmarshal_as(type_code, input).map_err(wrong)?;
    // An Any decodes its bytes only as far as necessary to find their end.
    value.value().map_err(wrong)?;
    Ok((name.to_owned(), value))
}

fn text(error: CdrError) -> String {
    error.to_string()
}
