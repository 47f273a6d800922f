//! Requests that two files have in common: which connection and request of a client's file is which of a server's.
//!
//! Connections are the same if their ends have the same addresses. Where these do not tell (Unix sockets, shared memory,
//! translated addresses), those are whose requests fit into each other: most of them, and then with the least corrections of the
//! clocks. Of a connection, requests with the same id are matched: the one that lies within the call, by an offset of the clocks
//! that is followed from request to request.
//!
//! Files may be forged: each comparison is a step of a [`Budget`], so that the time is bounded whatever addresses, ids and
//! times a file has. What a program has recorded takes few steps for each request. The memory is bounded as well: of
//! candidates, of which there are at most `connections::MOST_CANDIDATES`, only the number of matched requests and the miss are kept.
//!
//! ```text
//! connections  which connections may be the same
//! pair         request of two files, and what it says of their clocks
//! seek         the offset by which most requests of a sample fit
//! follow       requests of a connection that are one another
//! budget       number of steps that is left
//! ```

mod budget;
mod connections;
mod follow;
mod pair;
mod seek;
#[cfg(test)]
mod tests;

pub(super) use pair::Pair;

use super::file::File;
use budget::Budget;
use connections::{ById, Requests, Shared, shared};
use follow::follow;
use seek::seek;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Largest difference, in nanoseconds, between the offset so far and the one that a request demands.
const JUMP: i64 = 20_000_000;

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

/// Returns the requests that `client` has sent and `server` has read.
pub(super) fn pairs(client: &File, server: &File, known: Known) -> Pairs {
    let requests = Requests::of(client, server);
    let mut budget = Budget::of(client, server);
    let shared = shared(client, server, &requests, &mut budget);
    let (certain, other): (Vec<_>, Vec<_>) = shared.into_iter().partition(|one| one.is_certain);
    let mut pairs = Pairs::default();
    // Of its own, so that seeking leaves the steps of matching.
    let mut of_seeking = Budget::of(client, server);
    let offset = match known {
        Known::Same => Some(0),
        Known::Guess(guess) => {
            // By what is certain, if there is any.
            let by = if certain.is_empty() { &other } else { &certain };
            let sought = seek(client, server, by, guess, &mut of_seeking);
            pairs.is_ambiguous = sought.is_some_and(|sought| sought.is_ambiguous);
            sought.map(|sought| sought.offset)
        }
    };
    pairs.is_cut = budget.is_spent() || of_seeking.is_spent();
    let Some(offset) = offset else {
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
    // The best fit first; a connection is one other's only. Of equal fits, those go first of which an end has few others: so
    // none takes the only one that another end has. Those that are taken are followed again, as the pairs of all
    // candidates would be many times as many as the requests. That takes no more steps than before.
    let mut others: HashMap<*const ById, usize> = HashMap::new();
    for end in fits.iter().flat_map(|(.., one)| one.ends()) {
        *others.entry(end).or_default() += 1;
    }
    let fewest = |one: &Shared| {
        one.ends()
            .map(|end| others.get(&end).copied())
            .into_iter()
            .min()
    };
    fits.sort_by_key(|(length, miss, one)| (*length, *miss, fewest(one)));
    let mut again = Budget::of(client, server);
    let mut taken: HashSet<*const ById> = HashSet::new();
    for (.., one) in fits {
        let ends = one.ends();
        if ends.iter().all(|end| !taken.contains(end)) {
            taken.extend(ends);
            pairs.take(follow(one, jump, &mut again).pairs);
        }
    }
    pairs.is_cut |= budget.is_spent() || again.is_spent();
    pairs
}

impl Pairs {
    fn take(&mut self, of_one: Vec<Pair>) {
        self.connections += usize::from(!of_one.is_empty());
        self.all.extend(of_one);
    }
}
