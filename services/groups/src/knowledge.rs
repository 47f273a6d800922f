//! Data of this process about the members of groups: the next member in turn, loads, failures.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::choice::Choice;

/// Time after which the load reported by a group member is ignored.
const LOAD_AGE: Duration = Duration::from_secs(30);

/// Number of consecutive failures after which a member counts as dead.
const FAILURES: u32 = 2;

/// The members of one group, in the order of their keys.
pub trait Members {
    /// Type of a group member.
    type Member: ?Sized;

    /// Iterates over the group's members in key order, starting at the given key.
    fn from<'m>(&'m self, key: &str) -> impl Iterator<Item = (&'m str, &'m Self::Member)>;

    /// Returns true if there is a member with this key.
    fn has(&self, key: &str) -> bool;

    /// Returns the number of members in the group.
    fn count(&self) -> usize;
}

/// Data about all groups, each with a key of type `G`.
#[derive(Debug)]
pub struct Groups<G>(Mutex<HashMap<G, Group>>);

/// Result of choosing from the members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen<'m, M: ?Sized> {
    /// Single member that was chosen.
    One(&'m M),
    /// All members that are alive, beginning with the one whose turn it is.
    All(Vec<&'m M>),
}

/// State of a group member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Last reported load of the member; `None` without a recent report.
    pub load: Option<f64>,
    /// False if the member has failed to answer several times in succession.
    pub is_alive: bool,
}

#[derive(Debug, Default)]
struct Group {
    /// Key of the group member that was chosen last.
    last: Box<str>,
    /// State of the random number generator; 0 before its first use.
    random: u64,
    members: HashMap<Box<str>, MemberState>,
}

#[derive(Debug, Default)]
struct MemberState {
    load: Option<(f64, Instant)>,
    /// Hash of the reference whose object was asked last.
    asked: u64,
    failures: u32,
    failing_since: Option<Instant>,
}

impl MemberState {
    fn is_dead(&self) -> bool {
        self.failures >= FAILURES
    }

    fn load(&self, now: Instant) -> Option<f64> {
        let (load, at) = self.load?;
        (now.duration_since(at) < LOAD_AGE).then_some(load)
    }
}

impl<G> Default for Groups<G> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<G: Eq + Hash> Groups<G> {
    /// Chooses among the members of a group that are alive; `None` if there is none. Takes one
    /// lock, and time in proportion to the number of members, except for [`Choice::RoundRobin`].
    pub fn choose<'m, M: Members>(
        &self,
        group: G,
        members: &'m M,
        choice: Choice,
    ) -> Option<Chosen<'m, M::Member>> {
        let mut groups = self.0.lock();
        let group = groups.entry(group).or_default();
        // Taken, not copied: a choice replaces it.
        let last = std::mem::take(&mut group.last);
        match group.choose(members, &last, choice) {
            Some((key, chosen)) => {
                group.last = key.into();
                Some(chosen)
            }
            None => {
                group.last = last;
                None
            }
        }
    }

    /// Records the load that a group member reports.
    pub fn note_load(&self, group: G, members: &impl Members, key: &str, load: f64) {
        self.note_load_of(group, members, key, load, Instant::now());
    }

    /// Records the load that a group member has reported at a time.
    pub fn note_load_of(
        &self,
        group: G,
        members: &impl Members,
        key: &str,
        load: f64,
        at: Instant,
    ) {
        self.with_member(group, members, key, |known| known.load = Some((load, at)));
    }

    /// Returns the time since a group member has reported its load; `None` without a report that still counts.
    pub fn age_of_load(&self, group: &G, key: &str) -> Option<Duration> {
        let (groups, now) = (self.0.lock(), Instant::now());
        let known = groups.get(group)?.members.get(key)?;
        known.load(now)?;
        known.load.map(|(_, at)| now.duration_since(at))
    }

    /// Records whether a member has answered. Returns the time for which it has been dead, if it
    /// is. `asked` is a hash of the reference that was used: failures of an earlier reference do
    /// not count.
    pub fn note_answer(
        &self,
        group: G,
        members: &impl Members,
        key: &str,
        asked: u64,
        has_answered: bool,
    ) -> Option<Duration> {
        self.with_member(group, members, key, |known| {
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

    /// Records whether a member may be chosen, as somebody else has found out.
    pub fn note_life(&self, group: G, members: &impl Members, key: &str, is_alive: bool) {
        self.with_member(group, members, key, |known| {
            known.failures = if is_alive { 0 } else { FAILURES };
            known.failing_since = None;
        });
    }

    /// Returns the members of a group with their state, in the order of their keys.
    pub fn statuses<'m, M: Members>(
        &self,
        group: &G,
        members: &'m M,
    ) -> Vec<(&'m str, &'m M::Member, Status)> {
        let (groups, now) = (self.0.lock(), Instant::now());
        let group = groups.get(group);
        let status = |key: &str| {
            let known = group.and_then(|group| group.members.get(key));
            Status {
                load: known.and_then(|known| known.load(now)),
                is_alive: !known.is_some_and(MemberState::is_dead),
            }
        };
        let all = members.from("");
        all.map(|(key, member)| (key, member, status(key)))
            .collect()
    }

    /// Removes the recorded data about a group.
    pub fn forget(&self, group: &G) {
        self.0.lock().remove(group);
    }

    /// Removes the data about all groups for which `keep` returns false.
    pub fn retain(&self, keep: impl Fn(&G) -> bool) {
        self.0.lock().retain(|group, _| keep(group));
    }

    fn with_member<R>(
        &self,
        group: G,
        members: &impl Members,
        key: &str,
        note: impl FnOnce(&mut MemberState) -> R,
    ) -> R {
        let mut groups = self.0.lock();
        let group = groups.entry(group).or_default();
        // Members that have left are forgotten when there are as many of them as members.
        if group.members.len() > 2 * members.count() {
            group.members.retain(|key, _| members.has(key));
        }
        note(group.members.entry(key.into()).or_default())
    }
}

impl Group {
    fn is_alive(&self, key: &str) -> bool {
        !self.members.get(key).is_some_and(MemberState::is_dead)
    }

    /// Chooses among the members that are alive; also returns the key of the member whose turn it
    /// was.
    fn choose<'m, M: Members>(
        &mut self,
        members: &'m M,
        last: &str,
        choice: Choice,
    ) -> Option<(&'m str, Chosen<'m, M::Member>)> {
        let (key, member) = match choice {
            Choice::RoundRobin => self.around(members, last).next()?,
            Choice::ByChance => {
                let count = self.around(members, last).count();
                let place = self.random(count)?;
                self.around(members, last).nth(place)?
            }
            Choice::LeastLoaded => self.least_loaded(members, last)?,
            Choice::AllProfiles => {
                let all: Vec<_> = self.around(members, last).collect();
                let (first, _) = all.first()?;
                let members = all.iter().map(|(_, member)| *member).collect();
                return Some((first, Chosen::All(members)));
            }
        };
        Some((key, Chosen::One(member)))
    }

    /// Iterates once over the members that are alive, beginning after the one that was chosen last.
    fn around<'m, M: Members>(
        &self,
        members: &'m M,
        last: &str,
    ) -> impl Iterator<Item = (&'m str, &'m M::Member)> {
        let behind = members.from(last).filter(move |(key, _)| *key != last);
        let before = members.from("").take_while(move |(key, _)| *key <= last);
        let all = behind.chain(before);
        all.filter(|(key, _)| self.is_alive(key))
    }

    /// Returns the member that is alive and reports the least load. A member that reports none
    /// counts as having the average load; among equals, the one whose turn is next is chosen.
    fn least_loaded<'m, M: Members>(
        &self,
        members: &'m M,
        last: &str,
    ) -> Option<(&'m str, &'m M::Member)> {
        let now = Instant::now();
        let load = |key: &str| self.members.get(key).and_then(|known| known.load(now));
        let members: Vec<_> = self.around(members, last).collect();
        let loads: Vec<f64> = members.iter().filter_map(|(key, _)| load(key)).collect();
        // Each share on its own, since the sum may be infinite.
        let count = loads.len() as f64;
        let average: f64 = loads.iter().map(|load| load / count).sum();
        let mut least: Option<(f64, (&str, &M::Member))> = None;
        for member in members {
            let load = load(member.0).unwrap_or(average);
            if least.as_ref().is_none_or(|(least, _)| load < *least) {
                least = Some((load, member));
            }
        }
        least.map(|(_, member)| member)
    }

    /// Returns a random number below `count` (splitmix64); `None` if that is 0.
    fn random(&mut self, count: usize) -> Option<usize> {
        if self.random == 0 {
            self.random = getrandom::u64().unwrap_or(1);
        }
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let place = usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap_or_default();
        place.checked_rem(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::ops::Bound;

    struct Table(BTreeMap<String, u8>);

    impl Members for Table {
        type Member = u8;

        fn from<'m>(&'m self, key: &str) -> impl Iterator<Item = (&'m str, &'m u8)> {
            let from = (Bound::Included(key), Bound::Unbounded);
            let members = self.0.range::<str, _>(from);
            members.map(|(key, member)| (key.as_str(), member))
        }

        fn has(&self, key: &str) -> bool {
            self.0.contains_key(key)
        }

        fn count(&self) -> usize {
            self.0.len()
        }
    }

    fn three() -> Table {
        let members = [("a", 1), ("b", 2), ("c", 3)];
        Table(members.map(|(key, member)| (key.to_owned(), member)).into())
    }

    fn chosen(groups: &Groups<u8>, members: &Table, choice: Choice) -> u8 {
        match groups.choose(0, members, choice).unwrap() {
            Chosen::One(member) => *member,
            Chosen::All(members) => *members[0],
        }
    }

    #[test]
    fn members_have_their_turns_and_a_dead_one_is_passed_over_until_it_answers() {
        let (groups, members) = (Groups::default(), three());
        let turns = |count: usize| -> Vec<u8> {
            let turn = |_| chosen(&groups, &members, Choice::RoundRobin);
            (0..count).map(turn).collect()
        };
        assert_eq!(turns(4), [1, 2, 3, 1]);
        assert_eq!(groups.note_answer(0, &members, "b", 7, false), None);
        assert!(groups.note_answer(0, &members, "b", 7, false).is_some());
        assert_eq!(turns(3), [3, 1, 3]);
        assert_eq!(groups.note_answer(0, &members, "b", 7, true), None);
        assert_eq!(turns(3), [1, 2, 3]);
    }

    #[test]
    fn failures_of_another_reference_do_not_count() {
        let (groups, members) = (Groups::default(), three());
        groups.note_answer(0, &members, "a", 1, false);
        assert_eq!(groups.note_answer(0, &members, "a", 2, false), None);
    }

    #[test]
    fn the_least_loaded_member_is_chosen_and_one_without_a_load_counts_as_average() {
        let (groups, members) = (Groups::default(), three());
        groups.note_load(0, &members, "a", 5.0);
        groups.note_load(0, &members, "b", 1.0);
        assert_eq!(chosen(&groups, &members, Choice::LeastLoaded), 2);
        groups.note_load(0, &members, "b", 9.0);
        assert_eq!(chosen(&groups, &members, Choice::LeastLoaded), 1);
        let loads = groups.statuses(&0, &members);
        assert_eq!(loads[1].2.load, Some(9.0));
        assert_eq!(loads[2].2.load, None);
    }

    #[test]
    fn a_load_counts_for_as_long_as_it_is_young() {
        let (groups, members) = (Groups::default(), three());
        let now = Instant::now();
        let old = now.checked_sub(LOAD_AGE).unwrap();
        groups.note_load_of(0, &members, "a", 5.0, old);
        assert_eq!(groups.age_of_load(&0, "a"), None);
        assert_eq!(groups.statuses(&0, &members)[0].2.load, None);
        groups.note_load_of(0, &members, "a", 5.0, now + 100 * LOAD_AGE);
        assert_eq!(groups.age_of_load(&0, "a"), Some(Duration::ZERO));
        assert_eq!(groups.age_of_load(&0, "b"), None);
    }

    #[test]
    fn no_choice_is_made_among_no_members() {
        let (groups, none) = (Groups::default(), Table(BTreeMap::new()));
        for choice in (0..4).filter_map(Choice::from_number) {
            assert_eq!(groups.choose(0, &none, choice), None);
        }
    }
}
