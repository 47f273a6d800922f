//! Which member of a group its name is resolved to, and what this server knows of members: whose turn it is, how loaded
//! they say they are, which of them are dead. None of it is kept, nor told to other servers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::Ior;

use super::NamingService;
use crate::access::Requester;
use crate::refusal::Refusal;
use crate::store::{Change, Choice, ContextId, ROOT, Target};
use crate::tree::{Lapsing, Operation, Tree, View, Wanted};

/// How long a load counts.
const LOAD_AGE: Duration = Duration::from_secs(30);

/// How often in a row a member does not answer before it counts as dead.
const FAILURES: u32 = 2;

/// Members whose profiles are in one reference.
const MOST_PROFILES: usize = 32;

/// Dead members that are removed by one operation.
const AT_ONCE: usize = 64;

/// What is known of groups, by their contexts.
#[derive(Debug, Default)]
pub(super) struct Groups(Mutex<HashMap<ContextId, Group>>);

#[derive(Debug, Default)]
struct Group {
    /// Whose turn it was.
    last: Box<str>,
    chance: u64,
    members: HashMap<Box<str>, Known>,
}

#[derive(Debug, Default)]
struct Known {
    load: Option<(f64, Instant)>,
    /// Which reference was asked.
    asked: u64,
    failures: u32,
    failing_since: Option<Instant>,
}

/// A member as it is told of.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: Box<str>,
    pub(crate) target: Target,
    /// What it has reported, if that counts.
    pub(crate) load: Option<f64>,
    pub(crate) is_alive: bool,
}

impl Known {
    fn is_dead(&self) -> bool {
        self.failures >= FAILURES
    }

    fn load(&self, now: Instant) -> Option<f64> {
        let (load, at) = self.load?;
        (now.duration_since(at) < LOAD_AGE).then_some(load)
    }
}

impl Group {
    fn is_alive(&self, key: &str) -> bool {
        !self.members.get(key).is_some_and(Known::is_dead)
    }

    /// The members that are alive, from behind the one whose turn it was, once around.
    fn around<'t>(&self, tree: &'t Tree, context: ContextId) -> Vec<(&'t str, &'t Target)> {
        let last = &*self.last;
        let behind = tree.from(context, last).filter(|(key, _)| *key != last);
        let before = tree.from(context, "").take_while(|(key, _)| *key <= last);
        let all = behind.chain(before);
        all.filter(|(key, _)| self.is_alive(key)).collect()
    }

    /// The next member that is alive.
    fn next<'t>(&self, tree: &'t Tree, context: ContextId) -> Option<(&'t str, &'t Target)> {
        let last = &*self.last;
        let behind = tree.from(context, last).filter(|(key, _)| *key != last);
        let mut all = behind.chain(tree.from(context, ""));
        all.find(|(key, _)| self.is_alive(key))
    }

    /// The member that is alive and reports the least load. One that reports none counts as one of average load; of
    /// equals it is the one whose turn is next.
    fn idlest<'t>(&self, tree: &'t Tree, context: ContextId) -> Option<(&'t str, &'t Target)> {
        let now = Instant::now();
        let load = |key: &str| self.members.get(key).and_then(|known| known.load(now));
        let members = self.around(tree, context);
        let loads: Vec<f64> = members.iter().filter_map(|(key, _)| load(key)).collect();
        // Each share on its own, since the sum may be infinite.
        let count = loads.len() as f64;
        let average: f64 = loads.iter().map(|load| load / count).sum();
        let mut idlest: Option<(f64, (&str, &Target))> = None;
        for member in members {
            let load = load(member.0).unwrap_or(average);
            if idlest.is_none_or(|(least, _)| load < least) {
                idlest = Some((load, member));
            }
        }
        idlest.map(|(_, member)| member)
    }

    /// Any member that is alive (splitmix64).
    fn any<'t>(&mut self, tree: &'t Tree, context: ContextId) -> Option<(&'t str, &'t Target)> {
        let members = self.around(tree, context);
        if self.chance == 0 {
            self.chance = getrandom::u64().unwrap_or(1);
        }
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let place = usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap_or_default();
        let place = place.checked_rem(members.len())?;
        members.get(place).copied()
    }
}

impl Groups {
    /// What the name of a group is resolved to.
    pub(super) fn chosen(
        &self,
        tree: &Tree,
        context: ContextId,
        choice: Choice,
    ) -> Result<Target, Refusal> {
        let mut groups = self.0.lock();
        let group = groups.entry(context).or_default();
        let chosen = match choice {
            Choice::RoundRobin => group.next(tree, context),
            Choice::ByChance => group.any(tree, context),
            Choice::LeastLoaded => group.idlest(tree, context),
            Choice::AllProfiles => {
                let members = group.around(tree, context);
                let targets: Vec<&Target> = members.iter().map(|(_, target)| *target).collect();
                if let Some((key, _)) = members.first() {
                    group.last = (*key).into();
                }
                // Other groups do not wait while references are put together.
                drop(groups);
                return merged(&targets).ok_or(Refusal::NoMember);
            }
        };
        let (key, target) = chosen.ok_or(Refusal::NoMember)?;
        group.last = key.into();
        Ok(target.clone())
    }

    /// Forgets groups that are gone by changes.
    pub(super) fn note(&self, changes: &[Change]) {
        for change in changes {
            if let Change::Destroy(context) = change {
                self.0.lock().remove(context);
            }
        }
    }

    /// Forgets all groups that are not there.
    pub(super) fn keep(&self, tree: &Tree) {
        self.0.lock().retain(|context, _| tree.has(*context));
    }
}

/// One reference with the profiles of the first member and of all others that are of its type.
fn merged(members: &[&Target]) -> Option<Target> {
    let read = |target: &&Target| {
        let (Target::Object(bytes)
        | Target::Temporary {
            reference: bytes, ..
        }) = target
        else {
            return None;
        };
        let mut input = Decoder::new(bytes, ByteOrder::Big, Coding::default());
        Ior::unmarshal(&mut input).ok()
    };
    let mut all = members.iter().filter_map(read);
    let mut merged = all.next()?;
    for other in all.take(MOST_PROFILES - 1) {
        if other.type_id == merged.type_id {
            let new = other.profiles.into_iter();
            let new: Vec<_> = new.filter(|one| !merged.profiles.contains(one)).collect();
            merged.profiles.extend(new);
        }
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    merged.marshal(&mut out).ok()?;
    Some(Target::Object(out.into_block().to_vec().into()))
}

fn hash(target: &Target) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Target::Object(bytes)
    | Target::Temporary {
        reference: bytes, ..
    } = target
    {
        bytes.hash(&mut hasher);
    }
    hasher.finish()
}

impl NamingService {
    /// The contexts of all groups.
    pub(crate) fn groups(&self) -> Vec<ContextId> {
        self.0.tree.read().groups().iter().copied().collect()
    }

    /// The members of a group.
    pub(crate) fn members(&self, context: ContextId) -> Vec<Member> {
        let (tree, groups, now) = (self.0.tree.read(), self.0.groups.0.lock(), Instant::now());
        let group = groups.get(&context);
        let members = tree.from(context, "").map(|(key, target)| {
            let known = group.and_then(|group| group.members.get(key));
            Member {
                key: key.into(),
                target: target.clone(),
                load: known.and_then(|known| known.load(now)),
                is_alive: !known.is_some_and(Known::is_dead),
            }
        });
        members.collect()
    }

    /// Notes the load of a member, if there is one.
    pub(crate) fn note_load(
        &self,
        context: ContextId,
        key: &str,
        load: f64,
        by: &Requester,
    ) -> Result<bool, Refusal> {
        let (tree, access) = (self.0.tree.read(), self.0.access.read());
        if !access.permits(&*tree, context, by) {
            return Err(Refusal::NotPermitted);
        }
        if tree.target(context, key).is_none() {
            return Ok(false);
        }
        self.with_member(&tree, context, key, |known| {
            known.load = Some((load, Instant::now()));
        });
        Ok(true)
    }

    /// Notes whether a member has answered; how long it has been dead, if it is.
    pub(crate) fn note_answer(
        &self,
        context: ContextId,
        member: &Member,
        has_answered: bool,
    ) -> Option<Duration> {
        let tree = self.0.tree.read();
        if tree.target(context, &member.key) != Some(&member.target) {
            return None;
        }
        let asked = hash(&member.target);
        self.with_member(&tree, context, &member.key, |known| {
            if has_answered || known.asked != asked {
                (known.failures, known.failing_since) = (0, None);
            }
            known.asked = asked;
            if has_answered {
                return None;
            }
            known.failures = known.failures.saturating_add(1);
            let since = *known.failing_since.get_or_insert_with(Instant::now);
            known.is_dead().then(|| since.elapsed())
        })
    }

    /// Removes members that are bound as they were. Blocks.
    pub(crate) fn remove(&self, mut dead: Vec<Lapsing>) -> Result<(), Refusal> {
        while !dead.is_empty() {
            let rest = dead.split_off(dead.len().min(AT_ONCE));
            self.change(Operation {
                context: ROOT,
                wanted: Wanted::Lapse(std::mem::replace(&mut dead, rest)),
                by: Requester::Process,
            })?;
        }
        Ok(())
    }

    fn with_member<R>(
        &self,
        tree: &Tree,
        context: ContextId,
        key: &str,
        note: impl FnOnce(&mut Known) -> R,
    ) -> R {
        let mut groups = self.0.groups.0.lock();
        let group = groups.entry(context).or_default();
        // Those that have left are forgotten when there are as many of them as members.
        let most = 2 * tree.bindings_of(context).unwrap_or_default();
        if group.members.len() > most {
            group
                .members
                .retain(|key, _| tree.target(context, key).is_some());
        }
        note(group.members.entry(key.into()).or_default())
    }
}
