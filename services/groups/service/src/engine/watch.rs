//! Liveness of members without leases: they are asked whether they exist.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::{ObjectRef, SystemExceptionKind as Kind};
use punctual_groups::{Answer, Watched};
use punctual_groups_client::ft::PullMonitorable;

use super::{Engine, Shared};
use crate::bounded::bounded;
use crate::names::Key;

/// Member that is asked.
#[derive(Debug)]
pub(crate) struct Asked {
    key: Key,
    token: u64,
    reference: ObjectRef,
    /// True in a group of replicas, whose members may say themselves whether they live.
    is_replica: bool,
}

impl Watched for Shared {
    type Group = u64;
    type Member = Asked;

    fn groups(&self) -> Vec<u64> {
        let state = self.state.lock();
        let groups = state.groups.iter();
        let watched = groups.filter(|(_, group)| group.settings.is_monitored);
        watched.map(|(id, _)| *id).collect()
    }

    fn members(self: &Arc<Self>, id: u64) -> Vec<(Self::Member, ObjectRef)> {
        let state = self.state.lock();
        let Some(group) = state.groups.get(&id) else {
            return Vec::new();
        };
        let members = group.members.iter();
        // A lease says more, and sooner.
        let watched = members.filter(|(_, member)| member.lease.is_none());
        let member = |(key, member): (&Key, &crate::state::Member)| {
            let reference = member.reference.clone();
            let asked = Asked {
                key: key.clone(),
                token: member.token,
                reference: reference.clone(),
                is_replica: !group.is_balanced,
            };
            (asked, reference)
        };
        watched.map(member).collect()
    }

    /// A replica is asked by `is_alive`, if it has that operation.
    fn lives(member: &Asked, reference: &ObjectRef, within: Duration) -> bool {
        if member.is_replica {
            let monitorable: PullMonitorable = bounded(reference, within);
            match monitorable.is_alive() {
                Ok(lives) => return lives,
                Err(exception) => match exception.kind() {
                    Kind::ObjectNotExist | Kind::Timeout | Kind::CommFailure | Kind::Transient => {
                        return false;
                    }
                    // It has no such operation, or refuses it.
                    _ => {}
                },
            }
        }
        Answer::of(reference, within) == Answer::Alive
    }

    fn note(&self, answers: Vec<(u64, Self::Member, bool)>) {
        let mut dead = Vec::new();
        {
            let mut state = self.state.lock();
            for (id, asked, has_answered) in answers {
                let Asked {
                    key,
                    token,
                    reference,
                    ..
                } = asked;
                let Some(group) = state.groups.get(&id).cloned() else {
                    continue;
                };
                let members = state.eligible(id, &group, Instant::now());
                let mut hasher = DefaultHasher::new();
                reference.ior().to_string().hash(&mut hasher);
                let asked = hasher.finish();
                let is_dead = self
                    .knowledge
                    .note_answer(id, &members, &key, asked, has_answered)
                    .is_some();
                let Some(live) = state.live_mut(id, &key).filter(|live| live.token == token) else {
                    continue;
                };
                let was_dead = live.is_dead;
                if is_dead && !was_dead {
                    live.is_dead = true;
                    dead.push((id, key));
                } else if has_answered {
                    live.is_dead = false;
                }
                if live.is_dead != was_dead {
                    state.revisions.touch(id);
                }
            }
        }
        for (id, key) in dead {
            if let Some(engine) = self.engine() {
                engine.died(id, &key);
            }
        }
    }
}

impl Shared {
    fn engine(&self) -> Option<Engine> {
        self.this.upgrade().map(Engine)
    }
}

impl Engine {
    /// Does what follows from the death of a member that does not answer: it stays a member, and another one is primary.
    fn died(&self, id: u64, key: &Key) {
        let Ok(group) = self.group(id) else { return };
        tracing::info!("group {id}: {key} does not answer");
        self.with(|state| state.note_death(id, key));
        self.notifier()
            .crashed(self.domain(), id, &group.type_id, key);
        if group.primary.as_ref() == Some(key)
            && let Err(refusal) = self.hand_over(id, Some(key), None)
        {
            tracing::error!("group {id}: {key} stays primary: {refusal:?}");
        }
        self.replenish(id);
    }
}
