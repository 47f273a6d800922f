//! Requests that two files have in common: which connection and request of a client's file is which of a server's.
//!
//! Connections are the same if their ends have the same addresses. Where these do not tell (Unix sockets, shared memory,
//! translated addresses), those are whose requests fit into each other: most of them, and then with the least corrections of the
//! clocks. Of a connection, requests with the same id are matched: the one that lies within the call, by an offset of the clocks
//! that is followed from request to request.
//!
//! Files may be forged: each comparison is a step of a [`Budget`], so that the time is bounded whatever addresses, ids and
//! times a file has. What a program has recorded takes few steps for each request. The memory is bounded as well: of
//! candidates, of which there are at most [`MOST_CANDIDATES`], only the number of matched requests and the miss are kept.

use super::addresses::{is_same, is_within_a_host, link, ports};
use super::file::{Call, Connection, File, Served, Side};
use super::offset::Bound;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of calls by which an offset is sought.
const SAMPLE: usize = 100;
/// Number of places from which samples are taken.
const PLACES: usize = 5;
/// Maximum number of pairs of a call and a served request that are looked at for a sample.
const MOST_PAIRS: usize = 1 << 20;
/// Largest difference, in nanoseconds, between the offset so far and the one that a request demands.
const JUMP: i64 = 20_000_000;

/// Steps for each event of both files, and steps that there are beside that.
const STEPS_OF_EVENT: u64 = 256;
const STEPS: u64 = 1 << 22;

/// Largest number of pairs of connections that may be the same: those of 512 on each side, of which no address tells.
const MOST_CANDIDATES: usize = 1 << 18;

/// Number of comparisons that are left.
struct Budget(u64);

impl Budget {
    fn of(client: &File, server: &File) -> Self {
        let events = client.events.len().saturating_add(server.events.len());
        Self((events as u64).saturating_mul(STEPS_OF_EVENT) + STEPS)
    }

    /// Takes steps; `false` if none are left.
    fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub((steps as u64).max(1));
        !self.is_spent()
    }

    /// Takes all steps.
    fn spend_all(&mut self) {
        self.0 = 0;
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Request of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Place in the client's [`File::calls`].
    pub(super) call: usize,
    /// Place in the server's [`File::served`].
    pub(super) served: usize,
    /// Bounds of the offset of the server's clock, by the client's.
    pub(super) bound: Bound,
}

/// What is known of the offset of two clocks before requests are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They are one clock.
    Same,
    /// By the time of day, which may be wrong.
    Guess(i64),
}

/// Requests that a client's and a server's file have in common.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) all: Vec<Pair>,
    /// Number of connections.
    pub(super) connections: usize,
    /// Other offsets fit as well; the time of day has chosen.
    pub(super) is_ambiguous: bool,
    /// The files have so many addresses, ids or times alike that not all were compared.
    pub(super) is_cut: bool,
}

/// Requests of one connection on one side, by their ids; places in order of time.
type ById = BTreeMap<u32, Vec<usize>>;

/// Requests of all connections on both sides: of a client's by the number, of a server's by lane and number.
struct Requests {
    calls: HashMap<u32, ById>,
    served: HashMap<(u32, u32), ById>,
}

impl Requests {
    fn of(client: &File, server: &File) -> Self {
        let mut calls: HashMap<u32, ById> = HashMap::new();
        for (place, call) in client.calls.iter().enumerate() {
            let of = calls.entry(call.request.connection).or_default();
            of.entry(call.request.request).or_default().push(place);
        }
        let mut served: HashMap<(u32, u32), ById> = HashMap::new();
        for (place, one) in server.served.iter().enumerate() {
            let of = served
                .entry((one.request.lane, one.request.connection))
                .or_default();
            of.entry(one.request.request).or_default().push(place);
        }
        Self { calls, served }
    }
}

/// Connection on both sides.
struct Shared<'r> {
    calls: &'r ById,
    served: &'r ById,
    is_certain: bool,
}

/// Returns the requests that `client` has sent and `server` has read.
pub(super) fn pairs(client: &File, server: &File, known: Known) -> Pairs {
    let requests = Requests::of(client, server);
    let mut budget = Budget::of(client, server);
    let shared = shared(client, server, &requests, &mut budget);
    let (certain, other): (Vec<_>, Vec<_>) = shared.into_iter().partition(|one| one.is_certain);
    let mut pairs = Pairs::default();
    let offset = match known {
        Known::Same => Some(0),
        Known::Guess(guess) => {
            // By what is certain, if there is any.
            let by = if certain.is_empty() { &other } else { &certain };
            let sought = seek(client, server, by, guess, &mut budget);
            pairs.is_ambiguous = sought.is_some_and(|sought| sought.is_ambiguous);
            sought.map(|sought| sought.offset)
        }
    };
    let Some(offset) = offset else {
        pairs.is_cut = budget.is_spent();
        return pairs;
    };
    let moves = known != Known::Same;
    let jump = if moves { JUMP } else { 0 };
    let follow = |one: &Shared, jump: i64, budget: &mut Budget| {
        follow((client, server), one, (offset, moves, jump), budget)
    };
    for one in &certain {
        let mut fit = follow(one, jump, &mut budget);
        // One clock is contradicted only by a connection that the addresses tell, if more of its requests are matched so.
        if !moves {
            let contradicting = follow(one, JUMP, &mut budget);
            if contradicting.pairs.len() > fit.pairs.len() {
                fit = contradicting;
            }
        }
        pairs.take(fit.pairs);
    }
    let mut fits: Vec<(Reverse<usize>, i64, &Shared)> = Vec::new();
    for one in &other {
        let fit = follow(one, jump, &mut budget);
        let calls = one.calls.values().map(Vec::len).sum::<usize>();
        if fit.pairs.len() * 10 >= calls * 5 {
            fits.push((Reverse(fit.pairs.len()), fit.miss, one));
        }
    }
    // The best fit first; a connection is one other's only. Those that are taken are followed again, as the pairs of all
    // candidates would be many times as many as the requests. That takes no more steps than before.
    fits.sort_by_key(|&(length, miss, _)| (length, miss));
    let mut again = Budget::of(client, server);
    let mut taken: HashSet<*const ById> = HashSet::new();
    for (.., one) in fits {
        let ends = [one.calls, one.served].map(std::ptr::from_ref);
        if ends.iter().all(|end| !taken.contains(end)) {
            taken.extend(ends);
            pairs.take(follow(one, jump, &mut again).pairs);
        }
    }
    pairs.is_cut = budget.is_spent() || again.is_spent();
    pairs
}

impl Pairs {
    fn take(&mut self, of_one: Vec<Pair>) {
        self.connections += usize::from(!of_one.is_empty());
        self.all.extend(of_one);
    }
}

/// Returns the connections that may be the same.
fn shared<'r>(
    client: &File,
    server: &File,
    requests: &'r Requests,
    budget: &mut Budget,
) -> Vec<Shared<'r>> {
    let clients = sides(client, Side::Client).into_iter();
    let clients: Vec<_> = clients
        .filter_map(|one| Some((one, requests.calls.get(&one.connection)?)))
        .collect();
    let servers = sides(server, Side::Server).into_iter();
    let servers: Vec<_> = servers
        .filter_map(|one| {
            let key = (one.lane, one.connection);
            Some((one, requests.served.get(&key)?))
        })
        .collect();
    let mut by_ports: HashMap<(u16, u16), Vec<usize>> = HashMap::new();
    for (place, (other, _)) in servers.iter().enumerate() {
        if let Some(ports) = ports(&other.peer, &other.local) {
            by_ports.entry(ports).or_default().push(place);
        }
    }
    let one_host = client.clock.boot == server.clock.boot && !client.clock.boot.is_empty();
    // Connections that another pair of addresses claims are no candidates of one that has none.
    let mut claimed: HashSet<usize> = HashSet::new();
    let mut by_address: Vec<Vec<usize>> = Vec::new();
    let mut alike = 0;
    for (mine, _) in &clients {
        let like = ports(&mine.local, &mine.peer).and_then(|ports| by_ports.get(&ports));
        let mut own = Vec::new();
        for place in like.into_iter().flatten() {
            if !budget.spend(1) {
                return Vec::new();
            }
            let is_one = servers.get(*place).is_some_and(|(other, _)| {
                is_same(mine, other) && (one_host || !is_within_a_host(mine))
            });
            own.extend(is_one.then_some(*place));
        }
        alike += own.len();
        if alike > MOST_CANDIDATES {
            budget.spend_all();
            return Vec::new();
        }
        claimed.extend(&own);
        by_address.push(own);
    }
    let mut shared = Vec::new();
    for ((mine, calls), own) in clients.iter().zip(by_address) {
        let is_certain = own.len() == 1;
        let candidates: Vec<usize> = match own.is_empty() {
            false => own,
            true if !budget.spend(servers.len()) => return shared,
            true => {
                let is_candidate = |(place, (other, _)): &(usize, &(&Connection, &ById))| {
                    link(&mine.local) == link(&other.local)
                        && !claimed.contains(place)
                        && (one_host || !is_within_a_host(mine))
                };
                let all = servers.iter().enumerate().filter(is_candidate);
                all.map(|(place, _)| place).collect()
            }
        };
        if shared.len() + candidates.len() > MOST_CANDIDATES {
            budget.spend_all();
            return shared;
        }
        let candidates = candidates
            .into_iter()
            .filter_map(|place| servers.get(place));
        shared.extend(candidates.map(|(_, served)| Shared {
            calls,
            served,
            is_certain,
        }));
    }
    shared
}

/// Returns the connections of one side; one that was described twice once.
fn sides(file: &File, side: Side) -> Vec<&Connection> {
    let mut seen = HashSet::new();
    let of_side = file.connections.iter().filter(|one| one.side == side);
    of_side
        .filter(|one| seen.insert((one.lane, one.connection)))
        .collect()
}

/// Returns the bounds that a request sets to the offset of its server's clock, if it is one request.
fn bound(call: &Call, served: &Served) -> Option<Bound> {
    let least = call.received.map(|received| served.end() - received);
    let most = served.read - call.sending;
    least.is_none_or(|least| least <= most).then_some(Bound {
        at: call.sending,
        least,
        most: Some(most),
    })
}

/// Offset that was found.
#[derive(Clone, Copy)]
struct Sought {
    offset: i64,
    /// Number of calls of the sample that have a request by it.
    votes: usize,
    /// Number of calls of the sample.
    of: usize,
    is_ambiguous: bool,
}

/// Seeks the offset by which most calls of a sample have a request, of samples from several places; of equally good ones
/// the nearest to the guess.
fn seek(
    client: &File,
    server: &File,
    by: &[Shared],
    guess: i64,
    budget: &mut Budget,
) -> Option<Sought> {
    let longest = by
        .iter()
        .max_by_key(|one| one.calls.values().map(Vec::len).sum::<usize>())?;
    // Of candidates for one connection each is tried.
    let alike = by
        .iter()
        .filter(|one| one.calls.len() == longest.calls.len());
    let mut sought: Vec<Sought> = Vec::new();
    for one in alike {
        let mut calls: Vec<usize> = one.calls.values().flatten().copied().collect();
        calls.sort_unstable();
        if !budget.spend(calls.len()) {
            break;
        }
        let served = one.served.values().map(Vec::len).max().unwrap_or(1).max(1);
        let sample = SAMPLE.min(MOST_PAIRS / served).max(1);
        let last = calls.len().saturating_sub(sample);
        for place in 0..PLACES {
            let from = last * place / (PLACES - 1);
            let of_place = calls
                .get(from..)
                .map(|rest| rest.get(..sample).unwrap_or(rest));
            let voted =
                of_place.and_then(|calls| vote((client, server), one, calls, guess, budget));
            sought.extend(voted);
        }
    }
    sought.into_iter().max_by_key(|one| {
        let share = one.votes * 1_000_000 / one.of.max(1);
        (share, Reverse(one.offset.abs_diff(guess)))
    })
}

/// Returns the offset by which most of these calls have a request.
fn vote(
    (client, server): (&File, &File),
    shared: &Shared,
    calls: &[usize],
    guess: i64,
    budget: &mut Budget,
) -> Option<Sought> {
    // Ends of the intervals: where one begins a call gains a request, behind its end it loses one.
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for call in calls.iter().filter_map(|place| client.calls.get(*place)) {
        let ids = shared.served.get(&call.request.request);
        if !budget.spend(ids.map_or(1, Vec::len)) {
            break;
        }
        let fits = ids.into_iter().flatten().filter_map(|place| {
            let bound = bound(call, server.served.get(*place)?)?;
            Some((bound.least?, bound.most?))
        });
        let mut fits: Vec<(i64, i64)> = fits.collect();
        fits.sort_unstable();
        // Where several requests fit the call votes once.
        let mut until = i64::MIN;
        for (least, most) in fits {
            if most > until {
                ends.push((least.max(until.saturating_add(1)), -1));
                ends.push((most, 1));
                until = most;
            }
        }
    }
    // Beginnings stand before ends of the same moment.
    ends.sort_unstable();
    let (mut now, mut best) = (0_i32, 0_i32);
    let mut regions: Vec<(i64, i64)> = Vec::new();
    for (index, &(at, change)) in ends.iter().enumerate() {
        now -= change;
        if change < 0 && now >= best {
            if now > best {
                regions.clear();
                best = now;
            }
            let until = ends.get(index + 1).map_or(at, |next| next.0);
            regions.push((at, until));
        }
    }
    let middle = |&(from, to): &(i64, i64)| from.midpoint(to);
    let nearest = regions
        .iter()
        .map(middle)
        .min_by_key(|offset| offset.abs_diff(guess))?;
    Some(Sought {
        offset: nearest,
        votes: usize::try_from(best).unwrap_or(0),
        of: calls.len(),
        // Regions that touch are one.
        is_ambiguous: regions.windows(2).any(|two| match two {
            [one, next] => next.0 - one.1 > 1_000_000,
            _ => false,
        }),
    })
}

/// Requests of a connection that were matched.
#[derive(Default)]
struct Fit {
    pairs: Vec<Pair>,
    /// Sum of the differences, in nanoseconds, between the offset and those that the requests demand.
    miss: i64,
}

/// Matches the requests of a connection by an offset, which is followed from request to request if the clocks may drift, and
/// which each request may demand to be otherwise by the largest jump.
fn follow(
    (client, server): (&File, &File),
    shared: &Shared,
    (offset, moves, jump): (i64, bool, i64),
    budget: &mut Budget,
) -> Fit {
    let mut fit = Fit::default();
    if budget.is_spent() {
        return fit;
    }
    let mut calls: Vec<usize> = shared.calls.values().flatten().copied().collect();
    calls.sort_unstable();
    let mut next: HashMap<u32, usize> = HashMap::new();
    let mut offset = offset;
    if !budget.spend(calls.len()) {
        return fit;
    }
    for place in calls {
        let Some(call) = client.calls.get(place) else {
            continue;
        };
        let id = call.request.request;
        let Some(served) = shared.served.get(&id) else {
            continue;
        };
        let first = next.entry(id).or_default();
        // How far the offset would have to move for each.
        let mut best: Option<(i64, usize, Bound)> = None;
        for (index, one) in served.iter().enumerate().skip(*first) {
            if !budget.spend(1) {
                return fit;
            }
            let Some(found) = server.served.get(*one) else {
                continue;
            };
            let moved = found.read - call.sending - offset;
            if moved < -jump && best.is_none() {
                // It is too early for this call, and for all later ones.
                *first = index + 1;
                continue;
            }
            if let Some(bound) = bound(call, found) {
                let below = bound.least.map_or(0, |least| (least - offset).max(0));
                let above = bound.most.map_or(0, |most| (offset - most).max(0));
                let miss = below.max(above);
                // Of one-ways, which have no reply, the first that fits.
                if best.is_none_or(|(least, ..)| miss < least) {
                    best = Some((miss, index, bound));
                }
                if miss == 0 {
                    break;
                }
            }
            // Those behind it are later still.
            if moved > jump
                && (best.is_some() || call.received.is_some_and(|end| found.read - end > offset))
            {
                break;
            }
        }
        let Some((miss, index, bound)) = best else {
            continue;
        };
        if miss > jump {
            continue;
        }
        *first = index + 1;
        if moves && miss > 0 {
            let most = bound.most.unwrap_or(offset);
            offset = offset.clamp(bound.least.unwrap_or(offset).min(most), most);
        }
        let Some(served) = served.get(index) else {
            continue;
        };
        fit.miss = fit.miss.saturating_add(miss);
        fit.pairs.push(Pair {
            call: place,
            served: *served,
            bound,
        });
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::super::file::{Event, Reading, Request, Stage};
    use super::*;

    /// Makes a file of connections without ports, whose requests all have one id: each begins at the time for the numbers of its
    /// connection and itself, has an upcall of so many nanoseconds, and is answered after 1,000.
    fn file(
        side: Side,
        (connections, of_each): (u32, u32),
        upcall: i64,
        at: impl Fn(u32, u32) -> i64,
    ) -> File {
        let reading = Reading {
            monotonic: 0,
            time_of_day: 0,
            within: 0,
            synchronised: false,
            estimated_error: 0,
            tai_offset: 0,
        };
        let connection = |number| Connection {
            side,
            lane: 0,
            connection: number,
            local: "uiop:///tmp/one".to_owned(),
            peer: "uiop:///tmp/other".to_owned(),
        };
        let numbers =
            (0..connections).flat_map(|number| (0..of_each).map(move |one| (number, one)));
        let requests: Vec<(Request, i64)> = numbers
            .map(|(connection, one)| {
                let request = Request {
                    lane: 0,
                    connection,
                    request: 7,
                };
                (request, at(connection, one))
            })
            .collect();
        let events = requests.iter().map(|(request, at)| Event {
            at: *at,
            thread: 1,
            stage: Stage::Read,
            request: *request,
            priority: None,
            processor: 0,
        });
        let calls = requests.iter().map(|(request, at)| Call {
            request: *request,
            sending: *at,
            received: Some(at + 1_000),
        });
        let served = requests.iter().map(|(request, at)| Served {
            request: *request,
            read: *at,
            upcall: None,
            upcall_end: Some(at + upcall),
            operation: None,
        });
        File {
            connections: (0..connections).map(connection).collect(),
            events: events.collect(),
            calls: calls.collect(),
            served: served.collect(),
            ..File::with_clock(reading, reading)
        }
    }

    /// Gives all connections of a client's and a server's file one pair of addresses.
    fn give_addresses(client: &mut File, server: &mut File) {
        let (near, far) = ("iiop://127.0.0.1:1", "iiop://127.0.0.1:2");
        for (file, local, peer) in [(client, near, far), (server, far, near)] {
            for one in &mut file.connections {
                (one.local, one.peer) = (local.to_owned(), peer.to_owned());
            }
        }
    }

    /// Returns the pairs, and the largest memory that was held, in bytes.
    fn measured(client: &File, server: &File, known: Known) -> (Pairs, usize) {
        let mut found = Pairs::default();
        let bytes = punctual_heap::bytes_of(|| found = pairs(client, server, known));
        (found, bytes.peak)
    }

    /// Begins of requests of connections that are used in turn, 300 microseconds after one another.
    fn in_turn(connection: u32, one: u32) -> i64 {
        i64::from(connection) * 300_000 + i64::from(one) * 1_000_000
    }

    #[test]
    fn connections_without_addresses_are_paired_by_their_times_and_not_by_their_numbers() {
        let client = file(Side::Client, (2, 200), 500, in_turn);
        let server = file(Side::Server, (2, 200), 500, |connection, one| {
            in_turn(1 - connection, one)
        });
        for known in [Known::Same, Known::Guess(0)] {
            let found = pairs(&client, &server, known);
            assert_eq!((found.all.len(), found.connections), (400, 2), "{known:?}");
            for pair in &found.all {
                let sending = client.calls.get(pair.call).map(|call| call.sending);
                let read = server.served.get(pair.served).map(|served| served.read);
                assert_eq!(sending, read, "{known:?}");
            }
        }
    }

    #[test]
    fn by_one_clock_only_a_connection_that_the_addresses_tell_may_contradict_causality() {
        let mut client = file(Side::Client, (1, 200), 500, in_turn);
        let early = |connection, one| in_turn(connection, one) - 300_000;
        let mut server = file(Side::Server, (1, 200), 500, early);
        assert!(pairs(&client, &server, Known::Same).all.is_empty());
        assert_eq!(pairs(&client, &server, Known::Guess(0)).all.len(), 200);
        give_addresses(&mut client, &mut server);
        assert_eq!(pairs(&client, &server, Known::Same).all.len(), 200);
    }

    #[test]
    fn calls_before_the_server_has_recorded_take_no_later_calls_place() {
        let begin = |_, one| i64::from(one) * 100_000;
        let mut client = file(Side::Client, (1, 200), 500, begin);
        let mut server = file(Side::Server, (1, 150), 500, |of, one| begin(of, one + 50));
        give_addresses(&mut client, &mut server);
        let found = pairs(&client, &server, Known::Same);
        assert_eq!(found.all.len(), 150);
        assert!(found.all.iter().all(|pair| pair.call == pair.served + 50));
    }

    #[test]
    fn requests_with_one_id_and_times_that_nothing_fits_are_not_all_compared_with_each_other() {
        // No upcall ends before the reply has come, and all begin at one moment.
        let (client, server) = (
            file(Side::Client, (1, 20_000), 1_000_000, |_, _| 0),
            file(Side::Server, (1, 20_000), 1_000_000, |_, _| 0),
        );
        for known in [Known::Same, Known::Guess(0)] {
            let found = pairs(&client, &server, known);
            assert_eq!((found.all.len(), found.connections), (0, 0));
            assert_eq!(found.is_cut, known == Known::Same, "{known:?}");
        }
    }

    #[test]
    fn connections_that_may_all_be_each_other_are_not_all_compared() {
        let files = |connections| {
            let of = |side| file(side, (connections, 1), 1_000_000, |_, _| 0);
            (of(Side::Client), of(Side::Server))
        };
        let (mut client, mut server) = files(1_000);
        assert!(pairs(&client, &server, Known::Same).is_cut);
        give_addresses(&mut client, &mut server);
        let (found, peak) = measured(&client, &server, Known::Same);
        assert!(found.is_cut);
        assert!(peak < 5 << 20, "{peak} bytes");
        let (client, server) = files(30);
        assert!(!pairs(&client, &server, Known::Same).is_cut);
    }

    #[test]
    fn connections_that_all_fit_each_other_take_no_memory_for_each_pair_of_their_requests() {
        // 40,000 pairs of connections, with 1,200,000 pairs of requests that fit.
        let (client, server) = (
            file(Side::Client, (200, 30), 500, |_, _| 0),
            file(Side::Server, (200, 30), 500, |_, _| 0),
        );
        let (found, peak) = measured(&client, &server, Known::Same);
        assert_eq!((found.all.len(), found.connections), (6_000, 200));
        assert!(!found.is_cut);
        assert!(peak < 16 << 20, "{peak} bytes");
    }
}
