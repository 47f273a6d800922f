//! Liveness checks of group members: which members are asked, and the removal of dead ones.

use std::sync::Arc;

use punctual::ObjectRef;
use punctual_groups::Watched;

use super::server::{Server, Shared};
use crate::service::Member;
use crate::store::ContextId;
use crate::tree::Removal;

impl Watched for Shared {
    type Group = ContextId;
    type Member = Member;

    fn groups(&self) -> Vec<ContextId> {
        self.service.groups()
    }

    fn members(self: &Arc<Self>, group: ContextId) -> Vec<(Member, ObjectRef)> {
        let server = Server(self.clone());
        let members = self.service.members(group).into_iter();
        let referred = members.filter_map(|member| {
            let reference = server.reference(&member.target).ok()??;
            Some((member, reference))
        });
        referred.collect()
    }

    fn note(&self, answers: Vec<(ContextId, Member, bool)>) {
        let mut dead = Vec::new();
        for (context, member, has_answered) in answers {
            let dead_for = self.service.note_answer(context, &member, has_answered);
            let is_removed = self
                .options
                .group_remove
                .zip(dead_for)
                .is_some_and(|(after, dead_for)| dead_for >= after);
            if is_removed {
                tracing::warn!("a dead member of a group is removed: `{}`", member.key);
                let Member { key, target, .. } = member;
                dead.push(Removal {
                    context,
                    key,
                    target,
                });
            }
        }
        if let Err(refusal) = self.service.remove(dead) {
            tracing::warn!("dead members of groups are removed later: {refusal}");
        }
    }
}
