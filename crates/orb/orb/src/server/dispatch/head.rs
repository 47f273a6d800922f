//! Evaluation of a request's header, except for its operation: code sets, object, listen points and
//! end time.

use super::{Dispatcher, no_object};
use crate::adapter::DispatchError;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, minor, unmarshal_exception,
    unsupported_code_set,
};
use crate::invocation_policies::lateness;
use punctual_cdr::{CdrError, CodeSets, GiopVersion};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{RequestHeader, ServiceContexts, Target, code_sets, service_context};
use std::borrow::Cow;

impl Dispatcher<'_> {
    /// Records the endpoints at which the client listens, if the request announces them (CORBA 3.3
    /// part 2, §9.8.1).
    pub(super) fn take_listen_points(&self, header: &RequestHeader<'_>) -> Result<(), CdrError> {
        let told = header.contexts.find(service_context::BI_DIR_IIOP);
        match (&self.connection.back, told) {
            (Some(back), Some(data)) => back.accept_listen_points(data),
            _ => Ok(()),
        }
    }

    /// Returns the code sets of a request: those agreed on for its connection, which a service context of the
    /// first request contains.
    pub(super) fn agreed_code_sets(
        &self,
        version: GiopVersion,
        header: &RequestHeader<'_>,
    ) -> Result<CodeSets, SystemException> {
        if !self.conversation().abilities.contexts {
            return Ok(CodeSets::NATIVE);
        }
        if version == GiopVersion::V1_0 {
            return Ok(CodeSets::UNNEGOTIATED);
        }
        if let Some(context) = header.contexts.find(service_context::CODE_SETS) {
            let context = CodeSetContext::decode(context)
                .map_err(|error| unmarshal_exception(error, CompletionStatus::No))?;
            self.conversation()
                .set_code_sets(code_sets::from_context(context).map_err(unsupported_code_set)?);
        }
        Ok(self.conversation().code_sets())
    }

    /// Returns the key of the object, if the request may reach it.
    ///
    /// # Errors
    /// The exception for the caller if the request is too late, its code sets are not supported, or
    /// no object is permitted for it.
    pub(super) fn admit<'m>(
        &self,
        contexts: ServiceContexts<'_>,
        code_sets: Result<CodeSets, SystemException>,
        target: &Target<'m>,
    ) -> Result<Cow<'m, [u8]>, DispatchError> {
        check_end_time(contexts)?;
        code_sets?;
        let key = self.object_key(target)?;
        match self.may_be_called(&key) {
            true => Ok(key),
            false => Err(not_bidirectional().into()),
        }
    }

    /// Returns `true` if requests may reach this object over this connection; over a connection
    /// that this side has opened, only if the object allows that.
    pub(super) fn may_be_called(&self, key: &[u8]) -> bool {
        let adapter = self.connection.adapter.get();
        !self.connection.is_of_client
            || adapter.is_some_and(|adapter| adapter.is_bidirectional(key))
    }

    /// Returns the object key in a target, whatever its addressing disposition (§9.4.2.3).
    pub(super) fn object_key<'m>(
        &self,
        target: &Target<'m>,
    ) -> Result<Cow<'m, [u8]>, SystemException> {
        match target {
            Target::ObjectKey(key) => Ok(Cow::Borrowed(key)),
            Target::Profile { tag, data } => self.key_of_profile(*tag, data).map(Cow::Owned),
            Target::Reference { selected, ior } => {
                let profile = ior.profiles.get(*selected as usize).ok_or_else(no_object)?;
                self.key_of_profile(profile.tag, &profile.data)
                    .map(Cow::Owned)
            }
        }
    }

    fn key_of_profile(&self, tag: u32, data: &[u8]) -> Result<Vec<u8>, SystemException> {
        let registry = self.conversation().broker().protocols.now();
        let codec = registry.codec(tag).ok_or_else(no_object)?;
        codec
            .decode(data)
            .map(|profile| profile.object_key)
            .map_err(|_| no_object())
    }
}

/// Checks that a request may still be delivered (Messaging::RequestEndTimePolicy).
fn check_end_time(contexts: ServiceContexts<'_>) -> Result<(), SystemException> {
    let Some(data) = contexts.find(service_context::INVOCATION_POLICIES) else {
        return Ok(());
    };
    let late = lateness(data).map_err(|error| {
        unmarshal_exception(error, CompletionStatus::No).in_context("reading the caller's policies")
    })?;
    let Some(late) = late else {
        return Ok(());
    };
    let exception =
        SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, CompletionStatus::No);
    Err(exception.with_detail(format!(
        "the request came {late:?} after its RequestEndTime"
    )))
}

#[cold]
fn not_bidirectional() -> SystemException {
    let (kind, minor) = (Kind::NoPermission, minor::NOT_BIDIRECTIONAL);
    SystemException::new(kind, minor, CompletionStatus::No)
        .with_detail("the object's POA does not allow bidirectional calls (policy Bidirectional)")
}
