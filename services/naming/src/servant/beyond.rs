//! `PunctualNaming::ExtendedContext`: operations of this service's contexts beyond the standard.

use punctual::{Interface, ObjectRef};

use super::group::{told, ttl_ms};
use super::server::Server;
use crate::cos_naming::{NameComponent, NamingContext};
use crate::extension::{
    BindingDetails, BindingKind, Choice, ExtendedContext, ExtendedContextAboutError,
    ExtendedContextBindForError, ExtendedContextBindGroupError, ExtendedContextJoinError,
    ExtendedContextLeaveError, ExtendedContextMembersError, ExtendedContextReportError,
    ExtendedContextServant, MemberList,
};
use crate::refusal::Refusal;
use crate::store::{Target, Ttl};

impl Server {
    /// Returns the binding target for an object that is bound for a limited time.
    pub(super) fn temporary_target(
        &self,
        object: Option<&ObjectRef>,
        ttl_ms: u32,
    ) -> Result<Target, Refusal> {
        let ttl = Ttl::from_millis(ttl_ms).ok_or(Refusal::BadTtl)?;
        let reference = self.written(object)?;
        Ok(Target::Temporary { reference, ttl })
    }
}

impl ExtendedContextServant for Server {
    fn bind_for(
        &self,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
        ttl_ms: u32,
        replace: bool,
    ) -> Result<(), ExtendedContextBindForError> {
        let here = self.bind_here(n, self.temporary_target(obj, ttl_ms), replace);
        here.or_else(|why| {
            self.through(why, |context, rest| {
                extended(context).bind_for(rest, obj, ttl_ms, replace)
            })
        })
    }

    fn about(&self, n: &[NameComponent]) -> Result<BindingDetails, ExtendedContextAboutError> {
        let context = self.current()?;
        let here = self.service().bound(context, n, about);
        here.or_else(|why| self.through(why, |context, rest| extended(context).about(rest)))
    }

    fn bind_group(
        &self,
        n: &[NameComponent],
        choosing: Choice,
    ) -> Result<(), ExtendedContextBindGroupError> {
        let here = self.bind_group_here(n, choosing);
        here.or_else(|why| {
            self.through(why, |context, rest| {
                extended(context).bind_group(rest, choosing)
            })
        })
    }

    fn join(
        &self,
        group: &[NameComponent],
        id: &str,
        obj: Option<&ObjectRef>,
        ttl_ms: u32,
    ) -> Result<(), ExtendedContextJoinError> {
        let here = self.join_here(group, id, obj, ttl_ms);
        here.or_else(|why| {
            self.through(why, |context, rest| {
                extended(context).join(rest, id, obj, ttl_ms)
            })
        })
    }

    fn leave(&self, group: &[NameComponent], id: &str) -> Result<(), ExtendedContextLeaveError> {
        let here = self.leave_here(group, id);
        here.or_else(|why| self.through(why, |context, rest| extended(context).leave(rest, id)))
    }

    fn report(
        &self,
        group: &[NameComponent],
        id: &str,
        load: f64,
    ) -> Result<(), ExtendedContextReportError> {
        let here = self.report_here(group, id, load);
        here.or_else(|why| {
            self.through(why, |context, rest| {
                extended(context).report(rest, id, load)
            })
        })
    }

    fn members(&self, group: &[NameComponent]) -> Result<MemberList, ExtendedContextMembersError> {
        let here = self.members_here(group);
        here.or_else(|why| self.through(why, |context, rest| extended(context).members(rest)))
    }
}

fn about(target: &Target) -> BindingDetails {
    let (leads, choosing) = match target {
        Target::Group { choice, .. } => (BindingKind::ToGroup, told(*choice)),
        target if target.is_context() => (BindingKind::ToContext, Choice::RoundRobin),
        _ => (BindingKind::ToObject, Choice::RoundRobin),
    };
    BindingDetails {
        leads,
        ttl_ms: ttl_ms(target),
        choosing,
    }
}

/// Narrows a context of another server to `ExtendedContext`, which that server may support, too;
/// otherwise raises BAD_OPERATION.
fn extended(context: &NamingContext) -> ExtendedContext {
    ExtendedContext::from_object(context.as_object().clone())
}
