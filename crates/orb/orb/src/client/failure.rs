//! Reasons why a call failed, as reported to its caller: endpoint, phase, and the operating
//! system's error.

use super::target::Target;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::groups::Heartbeat;
use crate::lane::{Broken, MAX_WAITING};
use punctual_exec::Deadline;
use punctual_ior::{IiopProfile, Ior, tags};
use punctual_link::{Address, Cause, LinkError, Phase, SendError};

/// Failure of one attempt to make a call.
pub(super) enum Failed {
    /// The connection was stale: the server cannot have begun the call.
    Stale(SystemException),
    Finally(SystemException),
    /// Error of an endpoint that cannot carry this request, so that another one is tried.
    Unfit(SystemException),
}

impl Failed {
    /// Returns the system exception to be raised at the caller.
    pub(super) fn exception(self) -> SystemException {
        match self {
            Self::Stale(exception) | Self::Finally(exception) | Self::Unfit(exception) => exception,
        }
    }
}

/// Returns the failure of a send. Repeating is safe if no byte of the request has been sent.
pub(super) fn not_sent(address: &Address, error: &SendError) -> Failed {
    let completed = if error.sent == 0 {
        CompletionStatus::No
    } else {
        CompletionStatus::Maybe
    };
    let detail = format!("{address}: {error}");
    if let Cause::TooLarge(limit) = error.error.cause {
        let too_large = SystemException::new(Kind::ImpLimit, minor::LIMIT, CompletionStatus::No);
        return Failed::Finally(too_large.with_detail(format!(
            "{address}: the request is larger than the {limit} octets that the link carries"
        )));
    }
    if matches!(error.error.cause, Cause::TimedOut) {
        let timeout = SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, completed);
        return Failed::Finally(timeout.with_detail(detail));
    }
    let exception =
        SystemException::new(Kind::CommFailure, minor::SEND_FAILED, completed).with_detail(detail);
    if error.sent == 0 {
        Failed::Stale(exception)
    } else {
        Failed::Finally(exception)
    }
}

/// Returns the exception for a reply that did not arrive in time.
pub(super) fn timed_out(address: &Address, deadline: Deadline) -> SystemException {
    let term = match deadline.timeout() {
        Some(timeout) => format!("within {} ms", timeout.as_millis()),
        None => "in the time that an upcall may wait (timeouts.nested_call)".to_owned(),
    };
    SystemException::new(
        Kind::Timeout,
        minor::CALL_TIMED_OUT,
        CompletionStatus::Maybe,
    )
    .with_detail(format!("{address}: {}: no reply {term}", Phase::Receive))
}

/// Returns the exception for a request that was not sent in time.
#[cold]
pub(super) fn too_late(address: &Address, deadline: Deadline) -> SystemException {
    let term = deadline.timeout().unwrap_or_default().as_millis();
    SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, CompletionStatus::No).with_detail(
        format!("{address}: the request was not sent within {term} ms"),
    )
}

/// Returns the exception for a request whose start time comes after its end time.
#[cold]
pub(super) fn not_before_its_end(deadline: Deadline) -> SystemException {
    let term = deadline.timeout().unwrap_or_default().as_millis();
    SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, CompletionStatus::No).with_detail(
        format!("the request cannot be sent within {term} ms: its RequestStartTime is later"),
    )
}

/// Returns the exception for a reply whose start time comes after its end time.
#[cold]
pub(super) fn reply_not_before_its_end(deadline: Deadline) -> SystemException {
    let term = deadline.timeout().unwrap_or_default().as_millis();
    SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, CompletionStatus::Yes).with_detail(
        format!("the reply cannot be delivered within {term} ms: its ReplyStartTime is later"),
    )
}

/// Returns the exception for a call that would have to bind its reference again although the Rebind
/// policy forbids it.
#[cold]
pub(super) fn must_rebind(what: &str) -> SystemException {
    SystemException::new(Kind::Rebind, minor::MUST_REBIND, CompletionStatus::No).with_detail(
        format!(
            "{what}, and the Rebind policy leaves rebinding to the caller (validate_connection)"
        ),
    )
}

/// Returns the failure of a call whose server gives no signs of life.
#[cold]
pub(super) fn unheard(address: &Address, heartbeat: Heartbeat) -> Failed {
    let (kind, minor) = (Kind::CommFailure, minor::RECEIVE_FAILED);
    let exception = SystemException::new(kind, minor, CompletionStatus::Maybe);
    Failed::Finally(exception.with_detail(format!(
        "{address}: no answer to a heartbeat within {} ms",
        heartbeat.time_out.as_millis()
    )))
}

/// Returns the failure of a call whose connection broke before the reply arrived.
pub(super) fn no_reply(address: &Address, broken: &Broken) -> Failed {
    let detail = format!("{address}: {}: {}", Phase::Receive, broken.reason);
    if broken.orderly {
        let exception =
            SystemException::new(Kind::CommFailure, minor::PEER_CLOSED, CompletionStatus::No);
        Failed::Stale(exception.with_detail(detail))
    } else {
        let exception = SystemException::new(
            Kind::CommFailure,
            minor::RECEIVE_FAILED,
            CompletionStatus::Maybe,
        );
        Failed::Finally(exception.with_detail(detail))
    }
}

/// Returns the exception for forwards that nest too deep; it names the target of the last one.
pub(crate) fn too_many_forwards(limit: u32, from: &Target, to: &Ior) -> SystemException {
    let kind = Kind::Transient;
    SystemException::new(kind, minor::TOO_MANY_FORWARDS, CompletionStatus::No).with_detail(format!(
        "forwards nest deeper than {limit} (max_forwards), perhaps in a loop: the last led from {} \
         to {}",
        described(from.ior()),
        described(to)
    ))
}

/// Returns the exception of a call, with its operation. One for an object that does not exist also
/// says where it was looked for, as the address or the key may be misspelt.
#[cold]
pub(super) fn while_calling(
    exception: SystemException,
    operation: &str,
    target: &Target,
) -> SystemException {
    let place = match exception.kind() {
        Kind::ObjectNotExist => place_of(target.ior()),
        _ => None,
    };
    match place {
        Some(place) => exception.in_context(format_args!("calling `{operation}` of {place}")),
        None => exception.in_context(format_args!("calling `{operation}`")),
    }
}

/// Returns the URL of an object whose key is text, or else its server's address.
fn place_of(ior: &Ior) -> Option<String> {
    let profile = first_iiop(ior).filter(|profile| profile.port != 0)?;
    let address = Address::iiop(&profile.host, profile.port);
    let key = std::str::from_utf8(&profile.object_key).ok();
    let key = key.filter(|key| key.chars().all(|one| one.is_ascii_graphic()));
    Some(match key {
        Some(key) => format!("corbaloc::{}/{key}", address.place()),
        None => format!("an object at {address}"),
    })
}

fn first_iiop(ior: &Ior) -> Option<IiopProfile> {
    ior.profiles.iter().find_map(|tagged| {
        let is_iiop = tagged.tag == tags::profile::INTERNET_IOP;
        is_iiop.then(|| IiopProfile::decode(&tagged.data).ok())?
    })
}

fn described(ior: &Ior) -> String {
    match first_iiop(ior) {
        Some(profile) => Address::iiop(&profile.host, profile.port).to_string(),
        None => format!("a reference with {} profiles", ior.profiles.len()),
    }
}

/// Returns the exception for a call whose reply cannot be read because no thread for it can be
/// started.
#[cold]
pub(super) fn unwatchable(error: &std::io::Error) -> SystemException {
    SystemException::new(Kind::NoResources, 0, CompletionStatus::Maybe).with_detail(format!(
        "no thread could be started to read the reply: {error}"
    ))
}

/// Returns the exception for a request that does not fit in its connection's buffer.
pub(super) fn buffer_full(address: &Address) -> SystemException {
    let kind = Kind::Transient;
    SystemException::new(kind, minor::BUFFER_FULL, CompletionStatus::No).with_detail(format!(
        "{address}: the buffer is full (the policy BufferCapacity)"
    ))
}

pub(super) fn too_many_calls() -> SystemException {
    SystemException::new(Kind::Transient, minor::TOO_MANY_CALLS, CompletionStatus::No).with_detail(
        format!("{} calls wait on this connection already", MAX_WAITING),
    )
}

pub(super) fn too_large(length: usize, limit: usize) -> SystemException {
    SystemException::new(Kind::ImpLimit, minor::LIMIT, CompletionStatus::No).with_detail(format!(
        "the request takes {length} octets, over the limit of {limit} (limits.message)"
    ))
}

/// Returns the exception for a reply whose status is not valid for its request.
pub(crate) fn out_of_place() -> SystemException {
    SystemException::new(Kind::CommFailure, minor::PROTOCOL, CompletionStatus::Maybe)
        .with_detail("the reply's status is not valid for the request")
}

/// Failure of a call at one endpoint of the reference.
#[derive(Debug)]
pub(super) enum Failure {
    /// Failure to connect to the endpoint.
    Link(Address, LinkError),
    /// System exception that the call raised at this endpoint.
    Raised(SystemException),
    /// No more endpoints are tried because of a limit; holds the name of the setting.
    NoMore(&'static str),
}

/// Returns the exception for a call of which all endpoints have failed, listing each with its
/// failure. The failure of a single endpoint is returned unchanged.
pub(super) fn exhausted(failures: &mut Vec<Failure>, call: Deadline) -> SystemException {
    if failures.len() == 1
        && let Some(Failure::Raised(exception)) =
            failures.pop_if(|one| matches!(one, Failure::Raised(_)))
    {
        return exception;
    }
    let only_links = failures
        .iter()
        .all(|one| !matches!(one, Failure::Raised(_)));
    let all: Vec<String> = failures
        .iter()
        .map(|failure| match failure {
            Failure::Link(address, error) => format!("{address}: {error}"),
            Failure::Raised(exception) => exception.to_string(),
            Failure::NoMore(setting) => format!("no more endpoints are tried ({setting})"),
        })
        .collect();
    let (kind, minor) = if call.has_passed() {
        (Kind::Timeout, minor::CONNECT_TIMED_OUT)
    } else if only_links {
        (Kind::Transient, minor::CONNECT_FAILED)
    } else {
        (Kind::Transient, minor::NO_USABLE_PROFILE)
    };
    SystemException::new(kind, minor, CompletionStatus::No).with_detail(all.join("; "))
}
