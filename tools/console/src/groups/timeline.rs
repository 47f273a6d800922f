//! Time line of a group: when there was a member at each location, when it was primary, and when one died.
//!
//! What is there now is known, and so are the latest changes: read backwards, they say what was there before.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use punctual_groups_service::{Change, ChangeKind};

/// Width of the drawing of all times, in the units of its coordinates.
pub(super) const WIDTH: u32 = 1000;

/// Maximum number of locations that are drawn: the members, and those that had one lately.
const MOST_LANES: usize = 24;

/// Shortest time that is drawn.
const SHORTEST: Duration = Duration::from_secs(10);

/// What was at each location of a group, over the time of the changes that are known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TimeLine {
    pub(super) lanes: Vec<Lane>,
    /// Time from the left edge until now.
    pub(super) length: Duration,
}

/// One location.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) location: String,
    pub(super) spans: Vec<Span>,
    pub(super) deaths: Vec<Mark>,
    pub(super) restarts: Vec<Mark>,
}

/// Time for which there was a member, or for which it was primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) x: u32,
    pub(super) width: u32,
    pub(super) is_primary: bool,
    /// Time before now at which it began.
    pub(super) began: Duration,
}

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) x: u32,
    /// Time before now.
    pub(super) ago: Duration,
}

/// Ends of the spans that are open while the changes are read backwards, as times before now.
#[derive(Debug, Default)]
struct Open {
    member: Option<Duration>,
    primary: Option<Duration>,
    members: Vec<(Duration, Duration)>,
    primaries: Vec<(Duration, Duration)>,
    deaths: Vec<Duration>,
    restarts: Vec<Duration>,
}

impl TimeLine {
    /// Returns the time line of a group with these members, each with whether it is primary, after these changes, the latest first.
    pub(super) fn new<'m>(
        members: impl Iterator<Item = (&'m str, bool)>,
        changes: &[Change],
        now: Instant,
    ) -> Self {
        let mut lanes: BTreeMap<&str, Open> = BTreeMap::new();
        for (location, is_primary) in members.take(MOST_LANES) {
            let lane = Open {
                member: Some(Duration::ZERO),
                primary: is_primary.then_some(Duration::ZERO),
                ..Open::default()
            };
            lanes.insert(location, lane);
        }
        let ago = |change: &Change| now.duration_since(change.at);
        for change in changes {
            let has_room = lanes.len() < MOST_LANES;
            let location = &*change.location;
            if has_room || lanes.contains_key(location) {
                lanes
                    .entry(location)
                    .or_default()
                    .undo(change.kind, ago(change));
            }
        }
        let oldest = changes.iter().map(ago).max().unwrap_or_default();
        let length = oldest.max(SHORTEST);
        let lanes = lanes.into_iter();
        Self {
            lanes: lanes
                .map(|(location, open)| open.drawn(location, length))
                .collect(),
            length,
        }
    }
}

impl Open {
    /// Goes back before a change.
    fn undo(&mut self, kind: ChangeKind, at: Duration) {
        match kind {
            ChangeKind::Joined => self.members.extend(self.member.take().map(|end| (at, end))),
            ChangeKind::JoinedAgain => self.restarts.push(at),
            ChangeKind::Left => self.member = Some(at),
            ChangeKind::Died => self.deaths.push(at),
            ChangeKind::BecamePrimary => {
                self.primaries
                    .extend(self.primary.take().map(|end| (at, end)));
            }
            ChangeKind::WasPrimary => self.primary = Some(at),
            // Kinds to come do not change what is drawn.
            _ => {}
        }
    }

    /// Returns the lane of a location. What is open has begun before the first change that is known.
    fn drawn(mut self, location: &str, length: Duration) -> Lane {
        self.members.extend(self.member.map(|end| (length, end)));
        self.primaries.extend(self.primary.map(|end| (length, end)));
        let mark = |ago: Duration| Mark {
            x: place(ago, length),
            ago,
        };
        let members = self.members.into_iter().map(|span| (span, false));
        let primaries = self.primaries.into_iter().map(|span| (span, true));
        let spans = members.chain(primaries).map(|((began, end), is_primary)| {
            let x = place(began, length);
            Span {
                x,
                // Also the shortest is seen.
                width: (place(end, length) - x).max(2),
                is_primary,
                began,
            }
        });
        Lane {
            location: location.to_owned(),
            spans: spans.collect(),
            deaths: self.deaths.into_iter().map(mark).collect(),
            restarts: self.restarts.into_iter().map(mark).collect(),
        }
    }
}

/// Returns the coordinate of a time before now.
fn place(ago: Duration, length: Duration) -> u32 {
    let share = 1.0 - ago.as_secs_f64() / length.as_secs_f64();
    (share * f64::from(WIDTH))
        .round()
        .clamp(0.0, f64::from(WIDTH)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(members: &[(&str, bool)], changes: &[(&str, ChangeKind, u64)]) -> TimeLine {
        let now = Instant::now() + Duration::from_hours(1);
        let changes: Vec<Change> = changes
            .iter()
            .map(|(location, kind, ago)| Change {
                at: now - Duration::from_secs(*ago),
                group: 1,
                location: (*location).into(),
                kind: *kind,
            })
            .collect();
        TimeLine::new(members.iter().copied(), &changes, now)
    }

    fn spans(lane: &Lane) -> Vec<(u32, u32, bool)> {
        let spans = lane.spans.iter();
        spans
            .map(|one| (one.x, one.width, one.is_primary))
            .collect()
    }

    #[test]
    fn a_failover_is_read_from_its_changes() {
        let line = line(
            &[("b", true)],
            &[
                ("b", ChangeKind::BecamePrimary, 20),
                ("a", ChangeKind::Died, 21),
                ("a", ChangeKind::Left, 25),
                ("a", ChangeKind::WasPrimary, 25),
                ("b", ChangeKind::Joined, 50),
                ("a", ChangeKind::BecamePrimary, 75),
                ("a", ChangeKind::Joined, 100),
            ],
        );
        assert_eq!(line.length, Duration::from_secs(100));
        let [a, b] = &line.lanes[..] else {
            panic!("{line:?}")
        };
        assert_eq!(spans(a), [(0, 750, false), (250, 500, true)]);
        assert_eq!(a.deaths[0].x, 790);
        assert_eq!(spans(b), [(500, 500, false), (800, 200, true)]);
    }

    #[test]
    fn what_was_there_before_the_first_change_begins_at_the_edge() {
        let line = line(
            &[("a", true)],
            &[
                ("a", ChangeKind::JoinedAgain, 30),
                ("b", ChangeKind::Left, 60),
            ],
        );
        let [a, b] = &line.lanes[..] else {
            panic!("{line:?}")
        };
        assert_eq!(spans(a), [(0, 1000, false), (0, 1000, true)]);
        assert_eq!(a.restarts[0].x, 500);
        assert_eq!(spans(b), [(0, 2, false)]);
    }

    #[test]
    fn locations_are_bounded_and_a_group_without_changes_has_ten_seconds() {
        let names: Vec<String> = (0..40).map(|number| format!("m{number:02}")).collect();
        let members: Vec<(&str, bool)> = names.iter().map(|name| (&**name, false)).collect();
        let line = line(&members, &[("other", ChangeKind::Left, 1)]);
        assert_eq!((line.lanes.len(), line.length), (MOST_LANES, SHORTEST));
    }
}
