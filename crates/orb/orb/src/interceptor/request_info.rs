//! Information about a request that interceptors at both ends can query (`RequestInfo`; CORBA 3.3
//! part 1, §16.3.11).

use super::OwnedContext;
use super::error::{bad_inv_order, no_context, not_available};
use super::outcome::Outcome;
use crate::context::Context;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
    unmarshal_exception,
};
use crate::operation::OperationDetails;
use crate::operation_types::{ArgumentValues, OperationTypes};
use crate::policy::SyncScope;
use punctual_any::{Any, ParameterMode, TypeCode};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Environment, Marshal};
use punctual_giop::service_context;

/// Argument of an operation (`Dynamic::Parameter`).
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Value of the argument; an Any without a value if it is not known at this point.
    pub argument: Any,
    /// Direction of the argument: `in`, `out` or `inout`.
    pub mode: ParameterMode,
}

/// Function that reads the body of a reply.
pub(crate) type ReadBody<'a> = dyn Fn(&mut dyn FnMut(&mut Decoder<'_>)) + 'a;

/// Function that writes the arguments of a request.
pub(crate) type WriteArguments<'a> = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + 'a;

/// Types of an operation, if its stub or skeleton knows them.
#[derive(Clone)]
pub(crate) enum RequestTypes<'a> {
    Unknown,
    /// At a server: the arguments begin at position `at`, where `arguments` may have been read past.
    Received {
        types: &'static OperationTypes,
        arguments: &'a Decoder<'a>,
        at: usize,
    },
    /// At a client: looked for by the operation's name, each time that interceptors ask for them.
    Sought {
        find: fn(&str) -> Option<&'static OperationTypes>,
        arguments: &'a WriteArguments<'a>,
        environment: &'a dyn Environment,
    },
}

/// Request of a stub or skeleton, with the types of the operation.
pub(super) struct TypedRequest<'a> {
    pub(super) types: &'static OperationTypes,
    arguments: RequestArguments<'a>,
}

/// Source from which interceptors get the arguments of a request.
enum RequestArguments<'a> {
    /// At a client: the function that writes them, called each time that interceptors ask for the
    /// arguments.
    Written(&'a WriteArguments<'a>, &'a dyn Environment),
    /// Encoded arguments, as a server received them.
    Received(Decoder<'a>),
    /// At a server: the arguments were released before the reply.
    Gone,
}

impl TypedRequest<'_> {
    fn read<R>(
        &self,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, SystemException> {
        let read = match &self.arguments {
            RequestArguments::Written(write, environment) => written(*write, *environment, read),
            RequestArguments::Received(arguments) => read(&mut arguments.clone()),
            RequestArguments::Gone => return Err(not_available("arguments")),
        };
        read.map_err(|error| unmarshal_exception(error, CompletionStatus::No))
    }
}

/// Returns the arguments that begin at position `at`, whether or not they have been read;
/// [`RequestArguments::Gone`] if they have been released.
fn received<'a>(arguments: &Decoder<'a>, at: usize) -> RequestArguments<'a> {
    if arguments.position() == at {
        return RequestArguments::Received(arguments.clone());
    }
    match arguments.earlier(at) {
        Some(arguments) => RequestArguments::Received(arguments),
        None => RequestArguments::Gone,
    }
}

/// Encodes values with `write`, and decodes a result from them with `read`.
fn written<R>(
    write: &WriteArguments<'_>,
    environment: &dyn Environment,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
) -> Result<R, CdrError> {
    let coding = Coding {
        environment: Some(environment),
        ..Coding::default()
    };
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, coding);
    write(&mut out)?;
    let block = out.into_block();
    read(&mut Decoder::new(&block, ByteOrder::NATIVE, coding))
}

fn parameters(arguments: ArgumentValues) -> Vec<Parameter> {
    let parameter = |(mode, argument)| Parameter { argument, mode };
    arguments.into_iter().map(parameter).collect()
}

/// Facts about a request that are equal at all its interception points.
#[derive(Clone)]
pub(crate) struct CallFacts<'a> {
    pub(crate) request_id: u32,
    pub(crate) operation: &'a str,
    pub(crate) response_expected: bool,
    pub(crate) sync_scope: SyncScope,
    /// Description of an operation that is known only at run time.
    pub(crate) details: Option<&'a dyn OperationDetails>,
    pub(crate) types: RequestTypes<'a>,
}

impl<'a> CallFacts<'a> {
    /// Returns the request with the types of its operation, if they are known.
    pub(super) fn typed(&self) -> Option<TypedRequest<'a>> {
        match &self.types {
            RequestTypes::Unknown => None,
            RequestTypes::Received {
                types,
                arguments,
                at,
            } => Some(TypedRequest {
                types,
                arguments: received(arguments, *at),
            }),
            RequestTypes::Sought {
                find,
                arguments,
                environment,
            } => find(self.operation).map(|types| TypedRequest {
                types,
                arguments: RequestArguments::Written(*arguments, *environment),
            }),
        }
    }

    fn details(&self, what: &str) -> Result<&'a dyn OperationDetails, SystemException> {
        self.details.ok_or_else(|| not_available(what))
    }

    /// Returns the operation's description, if it contains more than the arguments.
    fn described(&self, what: &str) -> Result<&'a dyn OperationDetails, SystemException> {
        let details = self.details(what)?;
        match details.is_described() {
            true => Ok(details),
            false => Err(not_available(what)),
        }
    }

    pub(super) fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        let arguments = match self.typed() {
            Some(typed) => typed.read(|request| typed.types.arguments(request))?,
            None => self.details("arguments")?.arguments(),
        };
        Ok(parameters(arguments))
    }

    pub(super) fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
        match self.typed() {
            Some(typed) => Ok(typed.types.exceptions()),
            None => Ok(self.described("exceptions")?.exceptions()),
        }
    }

    pub(super) fn contexts(&self) -> Result<Vec<String>, SystemException> {
        match self.typed() {
            Some(typed) => Ok(typed
                .types
                .contexts()
                .iter()
                .map(ToString::to_string)
                .collect()),
            None => Ok(self.described("contexts")?.contexts()),
        }
    }

    pub(super) fn operation_context(&self) -> Result<Context, SystemException> {
        match self.typed() {
            Some(typed) => typed.read(|request| typed.types.context(request)),
            None => Ok(self.described("operation_context")?.operation_context()),
        }
    }

    /// Returns whether the types of the results are known.
    pub(super) fn are_results_known(&self) -> bool {
        self.typed().is_some() || self.details.is_some_and(OperationDetails::is_described)
    }

    /// Returns the result, and the arguments with their values after the call.
    pub(super) fn results(
        &self,
        body: Option<&ReadBody<'_>>,
        what: &str,
    ) -> Result<(Any, Vec<Parameter>), SystemException> {
        let Some(typed) = self.typed() else {
            let details = self.described(what)?;
            let (result, arguments) = self.read(body, what, |input| details.results(input))?;
            return Ok((result, parameters(arguments)));
        };
        let (result, came_back) = self.read(body, what, |input| typed.types.results(input))?;
        let mut arguments = parameters(came_back);
        // Arguments that do not come back are shown as they were sent.
        if arguments.iter().any(|one| one.mode == ParameterMode::In) {
            for (argument, sent) in arguments.iter_mut().zip(self.arguments()?) {
                if argument.mode == ParameterMode::In {
                    *argument = sent;
                }
            }
        }
        Ok((result, arguments))
    }

    /// Returns the exception of an outcome as an Any. A user exception whose type is not known
    /// appears as UNKNOWN 1 (§16.3.13: received_exception, §16.3.14: sending_exception).
    pub(super) fn exception(
        &self,
        outcome: Option<&Outcome>,
        body: Option<&ReadBody<'_>>,
    ) -> Result<Any, SystemException> {
        match outcome {
            Some(Outcome::System(exception)) => any_of(exception),
            Some(Outcome::User(id)) => {
                let listed = self.exceptions().and_then(|listed| {
                    let mut listed = listed.into_iter();
                    let wanted = listed.find(|one| one.id() == Ok(id.as_str()));
                    wanted.ok_or_else(|| not_available("exception"))
                });
                let read = |type_code: TypeCode| {
                    self.read(body, "exception", |input| {
                        input.get_string()?;
                        Any::unmarshal_exception(&type_code, input)
                    })
                };
                listed
                    .and_then(read)
                    .or_else(|_| any_of(&unknown_user_exception()))
            }
            _ => Err(not_available("exception")),
        }
    }

    fn read<R>(
        &self,
        body: Option<&ReadBody<'_>>,
        what: &str,
        mut read: impl FnMut(&mut Decoder<'_>) -> Result<R, punctual_cdr::CdrError>,
    ) -> Result<R, SystemException> {
        let body = body.ok_or_else(|| not_available(what))?;
        let mut came = None;
        body(&mut |input| came = Some(read(input)));
        let came = came.ok_or_else(|| not_available(what))?;
        came.map_err(|error| unmarshal_exception(error, CompletionStatus::Yes).in_context(what))
    }
}

fn unknown_user_exception() -> SystemException {
    SystemException::new(
        Kind::Unknown,
        minor::UNLISTED_USER_EXCEPTION,
        CompletionStatus::Yes,
    )
}

/// Returns a system exception in an Any: `exception NAME { unsigned long minor;
/// CORBA::completion_status completed; }`.
fn any_of(exception: &SystemException) -> Result<Any, SystemException> {
    struct Members(u32, u32);

    impl Marshal for Members {
        fn marshal(
            &self,
            out: &mut punctual_cdr::Encoder<'_>,
        ) -> Result<(), punctual_cdr::CdrError> {
            out.put_u32(self.0);
            out.put_u32(self.1);
            Ok(())
        }
    }

    let status = TypeCode::enumeration(
        "IDL:omg.org/CORBA/completion_status:1.0",
        "completion_status",
        &["COMPLETED_YES", "COMPLETED_NO", "COMPLETED_MAYBE"],
    );
    let kind = exception.kind();
    let members = [("minor", TypeCode::ULONG), ("completed", status)];
    let type_code = TypeCode::exception(kind.repository_id(), kind.name(), &members);
    let members = Members(exception.minor(), exception.completed().number());
    Any::with_type(&type_code, &members).map_err(|error| cdr_exception(error, CompletionStatus::No))
}

/// Returns the data of the context with this id.
pub(super) fn find(contexts: &[OwnedContext], id: u32) -> Result<&[u8], SystemException> {
    let found = contexts.iter().find(|(there, _)| *there == id);
    found
        .map(|(_, data)| &data[..])
        .ok_or_else(|| no_context(id))
}

/// Adds a context. If `replace` is true, it replaces a context with this id.
pub(super) fn add(
    contexts: &mut Vec<OwnedContext>,
    (id, data): (u32, &[u8]),
    replace: bool,
) -> Result<(), SystemException> {
    if id == service_context::CODE_SETS {
        return Err(Kind::BadParam.because("the service context CodeSets is reserved for the ORB"));
    }
    match contexts.iter_mut().find(|(there, _)| *there == id) {
        Some((_, there)) if replace => *there = data.to_vec(),
        Some(_) => {
            let why = format!("the service context {id:#x} exists already");
            return Err(bad_inv_order(minor::SERVICE_CONTEXT_EXISTS, why));
        }
        None => contexts.push((id, data.to_vec())),
    }
    Ok(())
}
