//! Filters that are refused.

use super::support::{ALL, ANY, BITMASK, BOTH, MASKED, NOT, entry, timer};
use crate::support::peers::{Recorder, Setting, event};
use punctual_rtevent::{
    ChannelOptions, ConnectError, Filter, FilterError, FilterLimits, Header, Subscription, codes,
};
use std::time::Duration;

fn refused(entries: &[Header]) -> FilterError {
    Filter::from_prefix(entries).unwrap_err()
}

#[test]
fn counts_that_lie_are_refused_by_their_entry() {
    let too_few = |at, announced, found| FilterError::TooFewChildren {
        at,
        announced,
        found,
    };
    assert_eq!(refused(&[entry(ANY, 2), entry(16, 0)]), too_few(0, 2, 1));
    let huge = [entry(ANY, i32::MAX), entry(16, 0)];
    assert_eq!(refused(&huge), too_few(0, i32::MAX as usize, 1));
    let inner = [entry(ANY, 2), entry(ALL, 2), entry(16, 0), entry(17, 0)];
    assert_eq!(refused(&inner), too_few(0, 2, 1));
    assert_eq!(refused(&[entry(NOT, 0)]), too_few(0, 1, 0));
    let count = FilterError::NegativeCount { at: 1, count: -1 };
    assert_eq!(refused(&[entry(ANY, 1), entry(BOTH, -1)]), count);
    let left = refused(&[entry(ANY, 1), entry(16, 0), entry(17, 0)]);
    assert_eq!(left, FilterError::Leftover { at: 2 });
}

#[test]
fn missing_masks_are_refused_by_their_entry() {
    let missing = |at, needs, found| FilterError::MissingMasks { at, needs, found };
    assert_eq!(refused(&[entry(BITMASK, 0)]), missing(0, 1, 0));
    let masked = [entry(ANY, 1), entry(MASKED, 0), entry(1, 1)];
    assert_eq!(refused(&masked), missing(1, 2, 1));
    let childless = refused(&[entry(BITMASK, 0), entry(1, 1)]);
    let none = FilterError::TooFewChildren {
        at: 0,
        announced: 1,
        found: 0,
    };
    assert_eq!(childless, none);
}

#[test]
fn impossible_lengths_of_timers_are_refused() {
    for code in [
        codes::TIMEOUT,
        codes::INTERVAL_TIMEOUT,
        codes::DEADLINE_TIMEOUT,
    ] {
        let none = refused(&[timer(code, 0)]);
        assert_eq!(none, FilterError::NoLength { at: 0 });
        let length = u64::MAX;
        assert_eq!(
            refused(&[timer(code, length)]),
            FilterError::TooLong { at: 0, length }
        );
    }
    let setting = Setting::new(ChannelOptions::default());
    let filter = Filter::any_of([Filter::null(), Filter::interval(Duration::ZERO)]);
    let outcome = setting
        .channel
        .connect_consumer(Subscription::new(filter), Recorder::new());
    assert!(matches!(
        outcome,
        Err(ConnectError::Filter(FilterError::NoLength { at: 2 }))
    ));
}

#[test]
fn limits_hold_where_a_consumer_connects() {
    let setting = Setting::new(ChannelOptions {
        filter_limits: FilterLimits {
            nodes: 5,
            depth: 3,
            timers: 1,
            least_timeout: Duration::from_micros(10),
        },
        ..ChannelOptions::default()
    });
    let connect = |filter| {
        let subscription = Subscription::new(filter);
        let outcome = setting
            .channel
            .connect_consumer(subscription, Recorder::new());
        outcome.err().map(|error| match error {
            ConnectError::Filter(error) => error,
            other => panic!("{other}"),
        })
    };
    let wide = |count| Filter::any_of(vec![Filter::null(); count]);
    assert_eq!(connect(wide(4)), None);
    let many = FilterError::TooManyNodes { nodes: 6, limit: 5 };
    assert_eq!(connect(wide(5)), Some(many));
    let deep = |depth| (1..depth).fold(Filter::null(), |filter, _| Filter::not(filter));
    assert_eq!(connect(deep(3)), None);
    let too_deep = FilterError::TooDeep { at: 3, limit: 3 };
    assert_eq!(connect(deep(4)), Some(too_deep));
    let timer = || Filter::timeout(Duration::from_secs(1));
    let timers = FilterError::TooManyTimers {
        timers: 2,
        limit: 1,
    };
    assert_eq!(connect(Filter::any_of([timer(), timer()])), Some(timers));
    let interval = |micros| Filter::any_of([Filter::interval(Duration::from_micros(micros))]);
    assert_eq!(connect(interval(10)), None);
    let too_short = FilterError::TooShort {
        at: 1,
        length: Duration::from_micros(9),
        limit: Duration::from_micros(10),
    };
    assert_eq!(connect(interval(9)), Some(too_short));
}

#[test]
fn filters_of_ten_thousand_nodes_are_taken_and_filter() {
    let setting = Setting::new(ChannelOptions {
        filter_limits: FilterLimits {
            nodes: 20_001,
            depth: 10_001,
            timers: 0,
            ..FilterLimits::default()
        },
        ..ChannelOptions::default()
    });
    let mut deep = vec![entry(NOT, 0); 10_000];
    deep.push(entry(16, 0));
    let mut nested = vec![entry(ALL, 1); 10_000];
    nested.push(entry(16, 0));
    let mut wide = vec![entry(ALL, 10_000)];
    wide.extend(vec![entry(16, 0); 10_000]);
    let connect = |entries: &[Header]| {
        let filter = Filter::from_prefix(entries).unwrap();
        setting.filter(filter)
    };
    let (nested, of_nested) = connect(&nested);
    let (deep, of_deep) = connect(&deep);
    let (wide, _) = connect(&wide);
    let events = vec![event(16, 1, 7); 10_000];
    setting.supplier.push(&events[..10]).unwrap();
    assert_eq!(nested.pushes().len(), 10);
    assert_eq!(deep.data().len(), 10);
    of_nested.disconnect();
    of_deep.disconnect();
    setting.supplier.push(&events[10..]).unwrap();
    assert_eq!(wide.pushes(), [vec![7; 10_000]]);
}

#[test]
fn a_million_entries_that_lie_are_refused() {
    let deep = vec![entry(NOT, 0); 1_000_000];
    assert!(Filter::from_prefix(&deep).is_err());
    assert!(Filter::from_basic(&deep).is_err());
    let groups = vec![entry(ANY, 1); 1_000_000];
    assert!(Filter::from_prefix(&groups).is_err());
    let second = FilterError::Leftover { at: 1 };
    assert_eq!(Filter::from_basic(&groups), Err(second));
}

#[test]
fn errors_name_the_entry_and_the_next_step() {
    let error = refused(&[entry(ANY, 2), entry(16, 0)]).to_string();
    assert!(
        error.contains("entry 0 needs 2 children, and 1 follow"),
        "{error}"
    );
    assert!(error.contains("correct the count"), "{error}");
    let error = format!("{:?}", refused(&[entry(16, 0), entry(16, 0)]));
    assert!(
        error.contains("join several conditions by a disjunction"),
        "{error}"
    );
}
