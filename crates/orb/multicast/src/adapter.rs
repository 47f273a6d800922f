//! Object adapter of an ORB with groups: a request for a group is served by each of its members, any other request by the
//! adapter inside.

use crate::key::group_in;
use crate::table::Groups;
use punctual_orb::{
    AdapterWrapper, Collocated, CompletionStatus, DispatchError, Dispatched, LocateRequest,
    Location, ObjectAdapter, OrbConfig, ServerCall, SystemException, SystemExceptionKind as Kind,
    Urgency, UrgencyStrategy, WaitingRequest, minor,
};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Wrapper of the ORB's object adapter.
#[derive(Debug)]
pub(crate) struct Wrapper(pub(crate) Arc<Groups>);

impl AdapterWrapper for Wrapper {
    fn around(
        &self,
        adapter: Arc<dyn ObjectAdapter>,
        _config: &OrbConfig,
    ) -> Arc<dyn ObjectAdapter> {
        Arc::new(WithGroups {
            adapter,
            groups: self.0.clone(),
        })
    }
}

struct WithGroups {
    adapter: Arc<dyn ObjectAdapter>,
    groups: Arc<Groups>,
}

impl ObjectAdapter for WithGroups {
    /// Dispatches a request. One for a group may arrive over any protocol, but nothing answers it: calls with replies have
    /// one object as their target.
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let Some(group) = group_in(object_key) else {
            return self.adapter.dispatch(object_key, call);
        };
        let members = self.groups.members(&group);
        if members.is_empty() || call.expects_reply() {
            return Err(no_members().into());
        }
        let members = members.iter();
        Ok(call.serve_each(members, |call, member| {
            self.adapter.dispatch(&member.key, call)
        }))
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        match group_in(object_key) {
            Some(_) => Location::Unknown,
            None => self.adapter.locate(object_key),
        }
    }

    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        match group_in(object_key) {
            Some(_) => Some(Location::Unknown),
            None => self.adapter.locate_or_later(object_key, request),
        }
    }

    /// Returns access to an object of this process; none to a group, whose members are in other processes, too.
    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        match group_in(object_key) {
            Some(_) => None,
            None => self.adapter.collocated(object_key),
        }
    }

    /// Returns what identifies the object, or the group: its domain and its id.
    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        match group_in(object_key) {
            Some(group) => Cow::Owned(format!("group {} of {}", group.id, group.domain).into()),
            None => self.adapter.name_in(object_key),
        }
    }

    /// Returns the urgency of a request: that of the first member, if it is for a group.
    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        let members = group_in(object_key).map(|group| self.groups.members(&group));
        let first = members.as_ref().and_then(|members| members.first());
        let key = first.map_or(object_key, |member| &member.key);
        self.adapter.urgency(key, request, strategy)
    }

    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        group_in(object_key).is_none() && self.adapter.is_bidirectional(object_key)
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

#[cold]
fn no_members() -> SystemException {
    let (kind, code) = (Kind::ObjectNotExist, minor::NO_ADAPTER);
    SystemException::new(kind, code, CompletionStatus::No)
        .with_detail("no object here is a member of this group, or the request wants a reply")
}
