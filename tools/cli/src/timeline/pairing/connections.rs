//! Which connections of two files may be the same: those whose ends have the same addresses, or where these do not tell all that
//! they do not exclude.

use super::super::addresses::{is_same, is_within_a_host, link, ports};
use super::super::file::{Connection, File, Side};
use super::budget::Budget;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Largest number of pairs of connections that may be the same: those of 512 on each side, of which no address tells.
const MOST_CANDIDATES: usize = 1 << 18;

/// Requests of one connection on one side, by their ids; places in order of time.
pub(super) type ById = BTreeMap<u32, Vec<usize>>;

/// Requests of all connections on both sides: of a client's by the number, of a server's by lane and number.
pub(super) struct Requests {
    calls: HashMap<u32, ById>,
    served: HashMap<(u32, u32), ById>,
}

impl Requests {
    pub(super) fn of(client: &File, server: &File) -> Self {
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
pub(super) struct Shared<'r> {
    pub(super) calls: &'r ById,
    pub(super) served: &'r ById,
    pub(super) is_certain: bool,
}

impl Shared<'_> {
    /// Returns what tells its ends from those of others.
    pub(super) fn ends(&self) -> [*const ById; 2] {
        [self.calls, self.served].map(std::ptr::from_ref)
    }
}

/// Returns the connections that may be the same.
pub(super) fn shared<'r>(
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
