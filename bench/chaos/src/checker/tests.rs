//! Tests of the checks: histories that must fail do fail, and the exact checks agree with a search of all orders.

use super::*;
use crate::history::{Answer, End, Kind, Time};
use crate::random::Random;

fn answered(kind: Kind, (begun, end): (Time, Time), value: i64) -> Operation {
    by("a", 1, kind, (begun, end), value)
}

fn by(member: &str, term: u64, kind: Kind, (begun, end): (Time, Time), value: i64) -> Operation {
    Operation {
        client: 0,
        kind,
        begun,
        end: End::Answered(
            end,
            Answer {
                value,
                member: member.to_owned(),
                term,
                version: 0,
            },
        ),
    }
}

fn unknown(kind: Kind, begun: Time) -> Operation {
    Operation {
        client: 1,
        kind,
        begun,
        end: End::Unknown(begun + 1),
    }
}

fn not_done(kind: Kind, begun: Time) -> Operation {
    Operation {
        client: 1,
        kind,
        begun,
        end: End::NotDone(begun + 1),
    }
}

use Kind::{Add, Read, Sum, Write};

#[test]
fn a_lost_addition_is_found() {
    let history = [
        answered(Add, (0, 10), 1),
        answered(Add, (20, 30), 2),
        answered(Add, (40, 50), 2),
    ];
    let violation = check(&history).unwrap();
    assert!(violation.what.contains("lost"), "{violation:?}");
    assert_eq!(violation.shown_by, history[1..]);
}

#[test]
fn a_counter_that_goes_back_is_found_with_the_two_operations_that_show_it() {
    let history = [
        answered(Add, (0, 10), 1),
        answered(Add, (20, 30), 2),
        answered(Sum, (40, 50), 1),
        answered(Sum, (60, 70), 2),
    ];
    let violation = check(&history).unwrap();
    assert_eq!(violation.shown_by, history[1..3]);
    // At one time with the addition, it may be either.
    let both = [answered(Add, (0, 10), 1), answered(Sum, (5, 7), 0)];
    assert_eq!(check(&both), None);
}

#[test]
fn an_addition_that_was_done_twice_is_found_unless_one_is_pending() {
    let twice = [answered(Add, (0, 10), 1), answered(Add, (20, 30), 3)];
    assert!(check(&twice).unwrap().what.contains("twice"));
    let pending = [&twice[..], &[unknown(Add, 15)]].concat();
    assert_eq!(check(&pending), None);
    for too_late in [unknown(Add, 31), not_done(Add, 15), unknown(Write(3), 15)] {
        assert!(check(&[&twice[..], &[too_late]].concat()).is_some());
    }
    let read = [answered(Sum, (0, 10), 1)];
    assert!(check(&read).is_some());
    assert_eq!(check(&[answered(Sum, (0, 10), 1), unknown(Add, 9)]), None);
}

#[test]
fn a_read_of_an_older_value_is_found() {
    let history = [
        answered(Write(1), (0, 10), 0),
        answered(Write(2), (20, 30), 0),
        answered(Read, (40, 50), 1),
    ];
    let violation = check(&history).unwrap();
    assert_eq!(violation.shown_by, history);
    let first = [answered(Write(1), (0, 10), 0), answered(Read, (20, 30), 0)];
    assert!(check(&first).is_some());
}

#[test]
fn a_value_that_comes_and_goes_and_comes_again_is_found() {
    let writes = [
        answered(Write(1), (0, 100), 0),
        answered(Write(2), (0, 100), 0),
    ];
    let read = |values: [i64; 3]| -> Vec<Operation> {
        let times = [(10, 20), (30, 40), (50, 60)].into_iter().zip(values);
        let reads = times.map(|(time, value)| answered(Read, time, value));
        writes.iter().cloned().chain(reads).collect()
    };
    assert_eq!(check(&read([1, 2, 2])), None);
    assert!(check(&read([1, 2, 1])).is_some());
}

#[test]
fn a_write_that_is_pending_may_be_read_late_and_one_that_was_not_done_never() {
    let read = answered(Read, (1_000, 1_010), 7);
    assert_eq!(check(&[unknown(Write(7), 5), read.clone()]), None);
    assert!(check(&[not_done(Write(7), 5), read.clone()]).is_some());
    assert!(check(&[unknown(Write(7), 2_000), read.clone()]).is_some());
    assert!(check(&[read]).is_some());
}

fn of_version(version: u64, kind: Kind, times: (Time, Time), value: i64) -> Operation {
    let mut operation = answered(kind, times, value);
    if let End::Answered(_, answer) = &mut operation.end {
        answer.version = version;
    }
    operation
}

#[test]
fn members_that_differ_after_a_change_are_found() {
    let agreed = [
        of_version(1, Add, (0, 10), 1),
        of_version(1, Sum, (20, 30), 1),
        of_version(2, Write(7), (40, 50), 7),
        of_version(2, Read, (60, 70), 7),
        of_version(2, Sum, (80, 90), 1),
    ];
    assert_eq!(check_active(&agreed), None);
    // One member has left out the write: the counter and the register show nothing.
    let mut differ = agreed.to_vec();
    differ.push(of_version(2, Add, (100, 110), 2));
    let violation = check_active(&differ).unwrap();
    assert!(violation.what.contains("change 2"), "{violation:?}");
    assert_eq!(violation.shown_by, differ[4..]);
    let mut twice = agreed[..4].to_vec();
    twice.push(of_version(2, Add, (100, 110), 2));
    let violation = check_active(&twice).unwrap();
    assert!(violation.what.contains("the number 2"), "{violation:?}");
}

#[test]
fn two_primaries_at_one_time_are_found() {
    let echo = |member, time| by(member, 1, Sum, time, 0);
    let history = [
        echo("a", (0, 10)),
        echo("b", (20, 30)),
        echo("a", (40, 50)),
        echo("b", (60, 70)),
    ];
    let violation = check(&history).unwrap();
    assert_eq!(violation.shown_by, history);
    let one_after_the_other = [
        echo("a", (0, 10)),
        echo("a", (20, 40)),
        echo("b", (30, 50)),
        echo("b", (60, 70)),
    ];
    assert_eq!(check(&one_after_the_other), None);
    let again = [
        echo("a", (0, 10)),
        echo("b", (20, 30)),
        by("a", 2, Sum, (40, 50), 0),
    ];
    assert_eq!(check(&again), None);
}

/// Searches all orders of the operations for one that a counter and a register allow.
fn is_linearizable(history: &[Operation], done: &mut Vec<bool>, (sum, value): (i64, i64)) -> bool {
    let is_left = |at: usize| !done[at] && history[at].answered().is_some();
    if (0..history.len()).all(|at| !is_left(at)) {
        return true;
    }
    let ends = (0..history.len()).filter(|at| is_left(*at));
    let first_end = ends.filter_map(|at| Some(history[at].answered()?.0)).min();
    for at in 0..history.len() {
        let operation = &history[at];
        let may_be = operation.answered().is_some() || operation.is_pending();
        if done[at] || !may_be || first_end.is_some_and(|end| end < operation.begun) {
            continue;
        }
        let answer = operation.answered().map(|(_, answer)| answer.value);
        let next = match operation.kind {
            Add => (sum + 1, value),
            Write(written) => (sum, written),
            Sum | Read | Kind::Echo(_) => (sum, value),
        };
        let fits = match operation.kind {
            Add | Sum => answer.is_none_or(|answer| answer == next.0),
            Read => answer.is_none_or(|answer| answer == value),
            Write(_) | Kind::Echo(_) => true,
        };
        if fits {
            done[at] = true;
            let found = is_linearizable(history, done, next);
            done[at] = false;
            if found {
                return true;
            }
        }
    }
    false
}

#[test]
fn the_checks_agree_with_a_search_of_all_orders_on_thousands_of_short_histories() {
    let mut random = Random::new(7, "histories");
    let mut agreed = [0, 0];
    for _ in 0..30_000 {
        let count = 2 + random.below(5);
        let is_counter = random.below(2) == 0;
        let history: Vec<Operation> = (0..count)
            .map(|at| {
                let begun = random.below(12) as Time;
                let end = begun + 1 + random.below(8) as Time;
                let value = random.below(4) as i64;
                let kind = match (is_counter, random.below(2)) {
                    (true, 0) => Add,
                    (true, _) => Sum,
                    (false, 0) => Write(at as i64 + 1),
                    (false, _) => Read,
                };
                match random.below(6) {
                    0 => unknown(kind, begun),
                    1 => not_done(kind, begun),
                    _ => answered(kind, (begun, end), value),
                }
            })
            .collect();
        let expected = is_linearizable(&history, &mut vec![false; count], (0, 0));
        let found = counter::check(&history).or_else(|| register::check(&history));
        assert_eq!(found.is_none(), expected, "{history:#?} {found:?}");
        agreed[usize::from(expected)] += 1;
    }
    assert!(agreed.iter().all(|count| *count > 2_000), "{agreed:?}");
}
