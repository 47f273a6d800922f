//! Groups of objects: the operations of `PunctualNaming::ExtendedContext` on them.

use punctual::{ObjectRef, about_to_block};

use super::server::Server;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::cos_naming::{Name, NameComponent};
use crate::extension::{Choice, Member, MemberList};
use crate::name::{check, component, key};
use crate::refusal::Refusal;
use crate::store::{self, ContextId, Target};
use crate::tree::RequestedChange;

type Refused<T> = Result<T, Refusal>;

impl Server {
    pub(super) fn bind_group_here(&self, n: &[NameComponent], choice: Choice) -> Refused<()> {
        check(n, &self.service().limits())?;
        let (name, choice) = (n.to_vec(), stored(choice));
        self.change(RequestedChange::BindGroup { name, choice })
            .map(drop)
    }

    pub(super) fn join_here(
        &self,
        group: &[NameComponent],
        id: &str,
        object: Option<&ObjectRef>,
        ttl_ms: u32,
    ) -> Refused<()> {
        let name = self.member(group, id)?;
        let object = object.ok_or(Refusal::NilMember)?;
        let target = match ttl_ms {
            0 => self.object_target(Some(object))?,
            ttl_ms => self.temporary_target(Some(object), ttl_ms)?,
        };
        let joined = self.change(RequestedChange::Join { name, target });
        joined.map(drop).map_err(of_group)
    }

    pub(super) fn leave_here(&self, group: &[NameComponent], id: &str) -> Refused<()> {
        let name = self.member(group, id)?;
        let left = self.change(RequestedChange::Leave { name });
        left.map(drop).map_err(of_group)
    }

    pub(super) fn report_here(&self, group: &[NameComponent], id: &str, load: f64) -> Refused<()> {
        let name = self.member(group, id)?;
        if !(load.is_finite() && load >= 0.0) {
            return Err(Refusal::BadLoad);
        }
        let context = self.group(group)?;
        let by = self.service().requester();
        let last = name.last().map(key).unwrap_or_default();
        if self.service().has_group_service() {
            let _ = about_to_block();
        }
        match self.service().note_load(context, &last, load, &by)? {
            true => Ok(()),
            false => {
                let at = name.len().saturating_sub(1);
                Err(Refusal::not_found(NotFoundReason::MissingNode, &name, at))
            }
        }
    }

    pub(super) fn members_here(&self, group: &[NameComponent]) -> Refused<MemberList> {
        let members = self.service().members(self.group(group)?);
        let member = |one: crate::service::Member| Member {
            id: component(&one.key).id,
            // A store may contain invalid references.
            reference: self.reference(&one.target).ok().flatten(),
            ttl_ms: ttl_ms(&one.target),
            is_loaded: one.load.is_some(),
            load: one.load.unwrap_or_default(),
            is_alive: one.is_alive,
        };
        Ok(members.into_iter().map(member).collect())
    }

    /// Returns the context that contains the members of a group.
    fn group(&self, name: &[NameComponent]) -> Refused<ContextId> {
        let context = self.current().map_err(|_| Refusal::NoSuchContext)?;
        let group = self.service().bound(context, name, |target| match target {
            Target::Group { context, .. } => Some(*context),
            _ => None,
        })?;
        let at = name.len().saturating_sub(1);
        group.ok_or_else(|| Refusal::not_found(NotFoundReason::NotContext, name, at))
    }

    /// Returns the full name of a group member: the group's name and the member's id.
    fn member(&self, group: &[NameComponent], id: &str) -> Refused<Name> {
        if group.is_empty() {
            return Err(Refusal::InvalidName("it has no component"));
        }
        if id.is_empty() {
            return Err(Refusal::InvalidName("a member has no id"));
        }
        let (id, kind) = (id.to_owned(), String::new());
        let name = [group, &[NameComponent { id, kind }]].concat();
        check(&name, &self.service().limits())?;
        Ok(name)
    }
}

/// Converts a refusal for a member's name to one for the name of its group.
fn of_group(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::NotFound { why, mut rest } if rest.len() > 1 => {
            rest.pop();
            Refusal::NotFound { why, rest }
        }
        Refusal::Elsewhere { context, mut rest } => {
            rest.pop();
            Refusal::Elsewhere { context, rest }
        }
        refusal => refusal,
    }
}

fn stored(choice: Choice) -> store::Choice {
    match choice {
        Choice::RoundRobin => store::Choice::RoundRobin,
        Choice::ByChance => store::Choice::ByChance,
        Choice::LeastLoaded => store::Choice::LeastLoaded,
        Choice::AllProfiles => store::Choice::AllProfiles,
    }
}

/// Converts a stored strategy of choosing members to its IDL type.
pub(super) fn told(choice: store::Choice) -> Choice {
    match choice {
        store::Choice::RoundRobin => Choice::RoundRobin,
        store::Choice::ByChance => Choice::ByChance,
        store::Choice::LeastLoaded => Choice::LeastLoaded,
        store::Choice::AllProfiles => Choice::AllProfiles,
    }
}

/// Returns the time to live of a binding in milliseconds, or 0.
pub(super) fn ttl_ms(target: &Target) -> u32 {
    match target {
        Target::Temporary { ttl, .. } => ttl.millis(),
        _ => 0,
    }
}
