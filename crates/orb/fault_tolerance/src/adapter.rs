//! Object adapter of an ORB with fault tolerance: requests for members of groups pass through it before they are dispatched.
//!
//! 1. A heartbeat (`_FT_HB`) is answered here, whatever its object.
//! 2. Operations that every object has (`_is_a` and others), and those by which a group is managed, are passed on.
//! 3. A client with an older reference of the group is forwarded to the current one for good. A member that does not serve
//!    forwards or refuses.
//! 4. A request with FT_REQUEST is answered from a kept reply if it is a repeat; otherwise its reply is kept.

use crate::extend::FaultTolerance;
use crate::member::{GroupMember, Role};
use crate::request::group_version;
use crate::retention::Retention;
use punctual_cdr::CdrError;
use punctual_giop::service_context::{FT_GROUP_VERSION, FT_REQUEST};
use punctual_orb::{
    AdapterWrapper, Collocated, CompletionStatus, DispatchError, Dispatched, LocateRequest,
    Location, ObjectAdapter, OrbConfig, ServerCall, SystemException, SystemExceptionKind as Kind,
    Urgency, UrgencyStrategy, WaitingRequest,
};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Operation by which clients ask whether the server is alive (CORBA 3.0, §23.2.9).
const HEARTBEAT: &str = "_FT_HB";

/// Wrapper of the ORB's object adapter.
#[derive(Debug)]
pub(crate) struct Wrapper(pub(crate) Arc<FaultTolerance>);

impl AdapterWrapper for Wrapper {
    fn around(
        &self,
        adapter: Arc<dyn ObjectAdapter>,
        config: &OrbConfig,
    ) -> Arc<dyn ObjectAdapter> {
        let settings = config.fault_tolerance;
        let retention = self.0.retention.get_or_init(|| Retention::new(settings));
        Arc::new(Guarded {
            adapter,
            tolerance: self.0.clone(),
            retention: retention.clone(),
            retains_all: settings.retain_all,
        })
    }
}

struct Guarded {
    adapter: Arc<dyn ObjectAdapter>,
    tolerance: Arc<FaultTolerance>,
    retention: Arc<Retention>,
    retains_all: bool,
}

impl ObjectAdapter for Guarded {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let operation = call.operation();
        if operation == HEARTBEAT {
            return call.reply(|_| Ok(()));
        }
        let dispatch = |call: &mut ServerCall<'_>| self.adapter.dispatch(object_key, call);
        if is_exempt(operation) {
            return dispatch(call);
        }
        let name = || self.adapter.name_in(object_key);
        let member = self.tolerance.members.find(object_key, name);
        let (version, request) = of_groups(call);
        if let Some(member) = &member {
            check(member, version)?;
        }
        let retains = member.is_some() || self.retains_all;
        match request.filter(|_| retains) {
            Some(data) => self.retention.serve(data, call, dispatch),
            None => dispatch(call),
        }
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        self.adapter.locate(object_key)
    }

    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        self.adapter.locate_or_later(object_key, request)
    }

    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        self.adapter.collocated(object_key)
    }

    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        self.adapter.name_in(object_key)
    }

    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        self.adapter.urgency(object_key, request, strategy)
    }

    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        self.adapter.is_bidirectional(object_key)
    }

    fn warn_before_run(&self) {
        self.adapter.warn_before_run();
    }

    fn shut_down(&self) {
        self.adapter.shut_down();
    }

    fn wait_until_idle(&self) {
        self.adapter.wait_until_idle();
    }

    fn release(&self) {
        self.adapter.release();
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self.adapter.clone().as_any()
    }
}

/// Returns the data of the request's FT_GROUP_VERSION and FT_REQUEST.
fn of_groups<'m>(call: &ServerCall<'m>) -> (Option<&'m [u8]>, Option<&'m [u8]>) {
    let (mut version, mut request) = (None, None);
    for (id, data) in call.contexts().iter() {
        match id {
            FT_GROUP_VERSION => version = Some(data),
            FT_REQUEST => request = Some(data),
            _ => {}
        }
    }
    (version, request)
}

/// Returns whether an operation is served whatever the member's role: one of every object, or one of the group's management.
fn is_exempt(operation: &str) -> bool {
    match operation.strip_prefix('_') {
        Some(rest) => !rest.starts_with("get_") && !rest.starts_with("set_"),
        // FT::PullMonitorable, Checkpointable, Updateable.
        None => matches!(
            operation,
            "is_alive" | "get_state" | "set_state" | "get_update" | "set_update"
        ),
    }
}

/// Checks that the member serves the request.
///
/// # Errors
/// The forward to the group's current reference for a client with an older one, and where the member stands by; TRANSIENT
/// where the client has to go on to another member.
fn check(member: &GroupMember, version: Option<&[u8]>) -> Result<(), DispatchError> {
    let theirs = version.map(group_version).transpose();
    let theirs = theirs.map_err(|error| bad_context(&error))?;
    if member.serves(theirs) {
        return Ok(());
    }
    check_reference(member, theirs)
}

/// Checks what [`check`] does, where the reference has to be looked at.
#[inline(never)]
fn check_reference(member: &GroupMember, theirs: Option<u32>) -> Result<(), DispatchError> {
    let mut current = member.current();
    if let (Some(theirs), Some(known)) = (theirs, &current)
        && theirs > known.version
    {
        member.report_newer(theirs);
        current = member.current();
        if current
            .as_ref()
            .is_none_or(|current| current.version < theirs)
        {
            return Err(transient(
                "the client's reference of the group is newer than this member's",
            )
            .into());
        }
    }
    if let (Some(theirs), Some(current)) = (theirs, &current)
        && theirs < current.version
    {
        return Err(DispatchError::ForwardPermanently(Box::new(
            current.ior.clone(),
        )));
    }
    match (member.role(), current) {
        (Role::Serving, _) => Ok(()),
        // A client with the current reference goes on by it.
        (Role::Backup, Some(current)) if theirs.is_none() => {
            Err(DispatchError::Forward(Box::new(current.ior.clone())))
        }
        (Role::Backup, _) => Err(transient("this member of the group stands by").into()),
        (Role::Refusing, _) => Err(transient("this member of the group must not serve now").into()),
    }
}

#[cold]
fn transient(why: &str) -> SystemException {
    SystemException::new(Kind::Transient, 0, CompletionStatus::No).with_detail(why)
}

#[cold]
pub(crate) fn bad_context(error: &CdrError) -> DispatchError {
    SystemException::new(Kind::Marshal, 0, CompletionStatus::No)
        .with_detail(format!(
            "a service context of the object group does not decode: {error}"
        ))
        .into()
}
