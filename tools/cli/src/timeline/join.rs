//! All files on the clock of the first.

use super::file::{File, Reading};
use super::offset::{Bound, Offset, float};
use super::pairing::{self, Known, Pair, Pairs};
use std::collections::BTreeSet;

/// How clocks are laid beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Clocks {
    /// One clock where it is one; else by requests, or by the time of day where that is kept more exactly.
    Auto,
    /// By the requests' own stages.
    Requests,
    /// By the time of day of each host, as PTP or NTP keep it.
    TimeOfDay,
}

/// How the offset of two clocks is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The processes have one clock.
    SameClock,
    /// Stages of requests that both have recorded.
    Requests,
    /// The hosts' time of day.
    TimeOfDay,
}

/// Two files that have requests in common; the first of them stands before the second on the command line.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) by: By,
    /// Offset of the second file's clock from the first's, by the time of the first.
    pub(super) offset: Offset,
    /// Requests by which it is known.
    pub(super) requests: usize,
    pub(super) connections: usize,
    pub(super) is_ambiguous: bool,
    /// Not all was compared, as the files have too many addresses, ids or times alike.
    pub(super) is_cut: bool,
    /// Offset by the time of day that contradicts the requests, in nanoseconds.
    pub(super) other: Option<i64>,
}

/// Request at client and server, on the clock of the first file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) client: usize,
    pub(super) server: usize,
    /// Place in the server's list.
    pub(super) served: usize,
    pub(super) sending: i64,
    pub(super) read: i64,
    pub(super) upcall: Option<i64>,
    pub(super) upcall_end: Option<i64>,
    pub(super) received: Option<i64>,
    /// Uncertainty of the times of one side against those of the other, in nanoseconds.
    pub(super) uncertainty: i64,
}

impl Whole {
    /// Returns the time by which causality is violated beyond the uncertainty, in nanoseconds; 0 if it is not.
    pub(super) fn violation(&self) -> i64 {
        let early = self.sending.saturating_sub(self.read);
        let end = self.upcall_end.or(self.upcall).unwrap_or(self.read);
        let late = self
            .received
            .map_or(0, |received| end.saturating_sub(received));
        early.max(late).saturating_sub(self.uncertainty).max(0)
    }

    /// Returns the time from sending to the reply, if it has come.
    pub(super) fn whole(&self) -> Option<i64> {
        Some(self.received?.saturating_sub(self.sending))
    }
}

/// Files, laid beside each other.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) files: Vec<File>,
    pub(super) edges: Vec<Edge>,
    /// Way from the first file to each: edges, by their place; `None` for a file that shares no request.
    ways: Vec<Option<Vec<usize>>>,
    /// Requests that were joined, in order of time.
    pub(super) requests: Vec<Whole>,
}

/// Pairs of two files, by who was client.
struct Both {
    /// The first file was client.
    forth: Pairs,
    /// The second file was.
    back: Pairs,
}

impl Joined {
    /// Joins files, of which there is one at least.
    pub(super) fn of(files: Vec<File>, clocks: Clocks) -> Self {
        let mut edges: Vec<Edge> = Vec::new();
        let mut pairs: Vec<(usize, usize, Vec<Pair>)> = Vec::new();
        for (first, one) in files.iter().enumerate() {
            let own = pairing::pairs(one, one, Known::Same);
            pairs.push((first, first, own.all));
            for (second, other) in files.iter().enumerate().skip(first + 1) {
                let known = match is_same_clock(one, other) && clocks == Clocks::Auto {
                    true => Known::Same,
                    false => {
                        Known::Guess(by_time_of_day(one, other).0.at(one.clock.begin.monotonic))
                    }
                };
                let back = match known {
                    Known::Same => Known::Same,
                    Known::Guess(guess) => Known::Guess(-guess),
                };
                let both = Both {
                    forth: pairing::pairs(one, other, known),
                    back: pairing::pairs(other, one, back),
                };
                if let Some(edge) = edge((first, one), (second, other), &both, known, clocks) {
                    edges.push(edge);
                    pairs.push((first, second, both.forth.all));
                    pairs.push((second, first, both.back.all));
                }
            }
        }
        let ways = ways(files.len(), &edges);
        let mut joined = Self {
            files,
            edges,
            ways,
            requests: Vec::new(),
        };
        let wholes = pairs.iter().flat_map(|(client, server, all)| {
            all.iter()
                .filter_map(|pair| joined.whole(*client, *server, pair))
        });
        let mut requests: Vec<Whole> = wholes.collect();
        requests.sort_by_key(|one| one.sending);
        joined.requests = requests;
        joined
    }

    /// Returns whether each file shares requests with the others.
    pub(super) fn is_whole(&self) -> bool {
        self.ways.iter().all(Option::is_some) && !self.requests.is_empty()
    }

    /// Returns whether the file is on the clock of the first.
    pub(super) fn is_joined(&self, file: usize) -> bool {
        self.way(file).is_some()
    }

    fn way(&self, file: usize) -> Option<&[usize]> {
        self.ways.get(file)?.as_deref()
    }

    /// Returns a moment of a file's clock on the clock of the first; `None` if the file is not joined.
    pub(super) fn at(&self, file: usize, at: i64) -> Option<i64> {
        let mut at = at;
        let mut here = file;
        for edge in self.way(file)?.iter().rev() {
            let edge = self.edges.get(*edge)?;
            if edge.second == here {
                at = edge.offset.first_of(at);
                here = edge.first;
            } else {
                at = at.saturating_add(edge.offset.at(at));
                here = edge.second;
            }
        }
        Some(at)
    }

    /// Returns the uncertainty of a file's times on the clock of the first, in nanoseconds.
    pub(super) fn uncertainty(&self, file: usize) -> i64 {
        let edges = self.way(file).unwrap_or_default().iter();
        let of = |edge: &usize| {
            self.edges
                .get(*edge)
                .map(|edge| edge.offset.largest_uncertainty())
        };
        edges.filter_map(of).fold(0, i64::saturating_add)
    }

    /// Returns the moment of the first event of all.
    pub(super) fn begin(&self) -> i64 {
        let begins = self.files.iter().enumerate().filter_map(|(number, file)| {
            let first = file.events.first()?;
            self.at(number, first.at)
        });
        begins.min().unwrap_or(0)
    }

    /// Returns the name of the operation of a request.
    pub(super) fn operation(&self, request: &Whole) -> &str {
        let name = || {
            let file = self.files.get(request.server)?;
            let number = file.served.get(request.served)?.operation?;
            file.operations.get(usize::try_from(number).ok()?)
        };
        name().map_or("(no name)", String::as_str)
    }

    fn whole(&self, client: usize, server: usize, pair: &Pair) -> Option<Whole> {
        let call = self.files.get(client)?.calls.get(pair.call)?;
        let served = self.files.get(server)?.served.get(pair.served)?;
        let there = |at: i64| self.at(server, at);
        Some(Whole {
            client,
            server,
            served: pair.served,
            sending: self.at(client, call.sending)?,
            read: there(served.read)?,
            upcall: served.upcall.and_then(there),
            upcall_end: served.upcall_end.and_then(there),
            received: call.received.and_then(|at| self.at(client, at)),
            uncertainty: self.between((client, call.sending), (server, served.read)),
        })
    }

    /// Returns the uncertainty of a moment of one file's clock against one of another's, in nanoseconds: that of the edges by
    /// which they were laid beside each other, which need not be the edge between the two.
    fn between(&self, (one, at): (usize, i64), (other, at_other): (usize, i64)) -> i64 {
        let (way, other_way) = (self.way(one), self.way(other));
        let (way, other_way) = (way.unwrap_or_default(), other_way.unwrap_or_default());
        let shared = way
            .iter()
            .zip(other_way)
            .take_while(|(one, other)| one == other);
        let shared = shared.count();
        let edges = way.iter().skip(shared).chain(other_way.iter().skip(shared));
        let of = |edge: &Edge| match [edge.first, edge.second] {
            both if both == [one, other] => edge.offset.uncertainty(at),
            both if both == [other, one] => edge.offset.uncertainty(at_other),
            _ => edge.offset.largest_uncertainty(),
        };
        let edges = edges.filter_map(|edge| self.edges.get(*edge));
        edges.map(of).fold(0, i64::saturating_add)
    }
}

fn is_same_clock(one: &File, other: &File) -> bool {
    let (one, other) = (&one.clock, &other.clock);
    !one.boot.is_empty() && one.boot == other.boot && one.time_namespace == other.time_namespace
}

/// Returns the offset of the second file's clock by the hosts' time of day, and whether that is kept.
fn by_time_of_day(first: &File, second: &File) -> (Offset, bool) {
    let (one, other) = (&first.clock, &second.clock);
    // The time of day less the clock, which stays the same unless the time is set: in the middle of the recording.
    let readings = [&one.begin, &one.end, &other.begin, &other.end];
    // TAI has no leap seconds; it is only known where all have been told how far it is ahead.
    let has_tai = readings.iter().all(|reading| reading.tai_offset > 0);
    let leaps = |reading: &Reading| {
        let seconds = if has_tai { reading.tai_offset } else { 0 };
        seconds * 1_000_000_000
    };
    let ahead = |reading: &Reading| reading.time_of_day + leaps(reading) - reading.monotonic;
    let begin = ahead(&one.begin) - ahead(&other.begin);
    let end = ahead(&one.end) - ahead(&other.end);
    let error = |reading: &Reading| reading.estimated_error + reading.within;
    let uncertainty =
        error(&one.begin).max(error(&one.end)) + error(&other.begin).max(error(&other.end));
    let offset = Offset::between(
        (one.begin.monotonic, begin),
        (one.end.monotonic, end),
        uncertainty,
    );
    (offset, readings.iter().all(|reading| reading.synchronised))
}

/// Returns how two files are joined, if they have requests in common.
fn edge(
    (first, one): (usize, &File),
    (second, other): (usize, &File),
    both: &Both,
    known: Known,
    clocks: Clocks,
) -> Option<Edge> {
    let requests = both.forth.all.len() + both.back.all.len();
    if requests == 0 {
        return None;
    }
    let mut edge = Edge {
        first,
        second,
        by: By::SameClock,
        offset: Offset::default(),
        requests,
        connections: both.forth.connections + both.back.connections,
        is_ambiguous: both.forth.is_ambiguous || both.back.is_ambiguous,
        is_cut: both.forth.is_cut || both.back.is_cut,
        other: None,
    };
    if known == Known::Same {
        return Some(edge);
    }
    let bounds: Vec<Bound> = both
        .forth
        .all
        .iter()
        .map(|pair| pair.bound)
        .chain(both.back.all.iter().filter_map(|pair| turned(one, pair)))
        .collect();
    let (by_day, is_kept) = by_time_of_day(one, other);
    let Some(by_requests) = Offset::within(&bounds) else {
        edge.by = By::TimeOfDay;
        edge.offset = by_day;
        return Some(edge);
    };
    let at = bounds.first().map_or(0, |bound| bound.at);
    let apart = by_day.at(at).saturating_sub(by_requests.at(at));
    let uncertainty = by_day
        .uncertainty(at)
        .saturating_add(by_requests.uncertainty(at));
    let contradicts = apart.saturating_abs() > uncertainty;
    let is_better = is_kept && by_day.largest_uncertainty() < by_requests.largest_uncertainty();
    let takes_day = match clocks {
        Clocks::TimeOfDay => true,
        Clocks::Requests => false,
        Clocks::Auto => is_better && !contradicts,
    };
    if contradicts && (is_kept || takes_day) {
        edge.other = Some(match takes_day {
            true => by_requests.at(at),
            false => by_day.at(at),
        });
    }
    (edge.by, edge.offset) = match takes_day {
        true => (By::TimeOfDay, by_day),
        false => (By::Requests, by_requests),
    };
    Some(edge)
}

/// Returns the bounds of a request that the second file's process has sent, for the offset of its clock from the first's.
fn turned(first: &File, pair: &Pair) -> Option<Bound> {
    let served = first.served.get(pair.served)?;
    Some(Bound {
        at: served.read,
        least: pair.bound.most.map(|most| -most),
        most: pair.bound.least.map(|least| -least),
    })
}

/// Returns the way from the first file to each: over the edges of the least uncertainty, one after the other.
fn ways(files: usize, edges: &[Edge]) -> Vec<Option<Vec<usize>>> {
    let mut ways: Vec<Option<Vec<usize>>> = vec![None; files];
    let Some(own) = ways.first_mut() else {
        return ways;
    };
    *own = Some(Vec::new());
    let mut reached: BTreeSet<usize> = [0].into();
    loop {
        let leads = |edge: &Edge| reached.contains(&edge.first) != reached.contains(&edge.second);
        let next = edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| leads(edge))
            .min_by(|(_, one), (_, other)| {
                let of = |edge: &Edge| float(edge.offset.largest_uncertainty());
                of(one).total_cmp(&of(other))
            });
        let Some((number, edge)) = next else {
            return ways;
        };
        let (from, to) = match reached.contains(&edge.first) {
            true => (edge.first, edge.second),
            false => (edge.second, edge.first),
        };
        let mut way = ways.get(from).cloned().flatten().unwrap_or_default();
        way.push(number);
        if let Some(place) = ways.get_mut(to) {
            *place = Some(way);
        }
        reached.insert(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(first: usize, second: usize, uncertainty: i64) -> Edge {
        Edge {
            first,
            second,
            by: By::Requests,
            offset: Offset::between((0, 0), (1_000, 0), uncertainty),
            requests: 1,
            connections: 1,
            is_ambiguous: false,
            is_cut: false,
            other: None,
        }
    }

    #[test]
    fn two_files_that_lie_beside_each_other_by_a_third_have_the_uncertainty_of_both_ways() {
        let edges = vec![edge(0, 1, 100), edge(0, 2, 90), edge(1, 2, 110)];
        let joined = Joined {
            files: Vec::new(),
            ways: ways(3, &edges),
            edges,
            requests: Vec::new(),
        };
        let between = |one, other| joined.between((one, 500), (other, 500));
        assert_eq!((between(0, 1), between(2, 0)), (100, 90));
        assert_eq!((between(1, 2), between(2, 1)), (190, 190));
        assert_eq!(between(1, 1), 0);
    }

    #[test]
    fn clocks_between_which_there_is_a_leap_second_are_joined_by_tai_where_all_know_it() {
        let reading = |time_of_day, tai_offset| Reading {
            monotonic: 1_000,
            time_of_day,
            within: 0,
            synchronised: true,
            estimated_error: 5,
            tai_offset,
        };
        let second = 1_000_000_000;
        let file = |reading: Reading| File::with_clock(reading, reading);
        // The first has had the leap second, the other has not yet.
        let (one, other) = (reading(70 * second, 38), reading(71 * second, 37));
        let (offset, is_kept) = by_time_of_day(&file(one), &file(other));
        assert!(is_kept);
        assert_eq!((offset.at(1_000), offset.largest_uncertainty()), (0, 10));
        let untold = Reading {
            tai_offset: 0,
            ..other
        };
        let (offset, _) = by_time_of_day(&file(one), &file(untold));
        assert_eq!(offset.at(1_000), -second);
    }
}
