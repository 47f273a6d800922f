//! The three kinds of timers, on a stated clock.

use crate::support::peers::{Recorder, Setting};
use punctual_rtevent::{ChannelOptions, Clock, Filter, FilterLimits, Header, Subscription, codes};
use std::time::Duration;

/// Returns a channel whose timers have a resolution of 1 ns.
fn setting() -> Setting {
    Setting::new(ChannelOptions {
        clock: Clock::Manual,
        timer_resolution: Duration::from_nanos(1),
        filter_limits: FilterLimits {
            least_timeout: Duration::ZERO,
            ..FilterLimits::default()
        },
        ..ChannelOptions::default()
    })
}

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// Returns type and time in microseconds of each event of a timer.
fn times(recorder: &Recorder) -> Vec<(i32, u64)> {
    let time = |header: Header| (header.kind, header.created / 10);
    recorder
        .take()
        .iter()
        .map(|event| time(event.header))
        .collect()
}

#[test]
fn a_timeout_expires_once() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::timeout(micros(5)));
    assert_eq!(setting.channel.advance(4_999), Some(5_000));
    assert!(times(&recorder).is_empty());
    assert_eq!(setting.channel.advance(100_000), None);
    assert_eq!(times(&recorder), [(codes::TIMEOUT, 5)]);
}

#[test]
fn an_interval_expires_at_each_multiple_of_its_length() {
    let setting = setting();
    setting.channel.advance(2_000);
    let (recorder, _) = setting.filter(Filter::interval(micros(5)));
    setting.channel.advance(17_000);
    let expected = [7, 12, 17].map(|time| (codes::INTERVAL_TIMEOUT, time));
    assert_eq!(times(&recorder), expected);
}

#[test]
fn a_deadline_starts_anew_when_the_consumer_receives_something() {
    let setting = setting();
    let filter = Filter::any_of([Filter::event(20, 0), Filter::deadline(micros(5))]);
    let (recorder, _) = setting.filter(filter);
    for time in [3, 6, 9] {
        setting.channel.advance(time * 1_000);
        setting.push(20, 0, 1);
        // Not among the filter's types.
        setting.push(21, 0, 1);
    }
    assert_eq!(recorder.take().len(), 3);
    setting.channel.advance(13_999);
    assert!(times(&recorder).is_empty());
    setting.channel.advance(25_000);
    let expected = [14, 19, 24].map(|time| (codes::DEADLINE_TIMEOUT, time));
    assert_eq!(times(&recorder), expected);
}

#[test]
fn a_deadline_in_a_group_reports_a_correlation_that_failed() {
    let setting = setting();
    let pair = Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let (recorder, _) = setting.filter(Filter::any_of([pair, Filter::deadline(micros(5))]));
    setting.push(20, 0, 1);
    setting.channel.advance(5_000);
    assert_eq!(times(&recorder), [(codes::DEADLINE_TIMEOUT, 5)]);
    // The report has emptied the conjunction.
    setting.push(21, 0, 2);
    assert!(recorder.data().is_empty());
    setting.push(20, 0, 3);
    assert_eq!(recorder.data(), [2, 3]);
}

#[test]
fn a_timers_event_is_part_of_a_conjunction() {
    let setting = setting();
    let filter = Filter::all_of([Filter::event(20, 0), Filter::interval(micros(5))]);
    let (recorder, _) = setting.filter(filter);
    setting.push(20, 0, 7);
    setting.channel.advance(5_000);
    assert_eq!(recorder.pushes(), [vec![7, 0]]);
    setting.channel.advance(20_000);
    setting.push(20, 0, 8);
    assert_eq!(recorder.pushes()[1..], [vec![0, 8]]);
}

#[test]
fn events_of_timers_have_no_source_and_cross_one_gateway() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::timeout(micros(5)));
    // A leaf that takes all events takes none of another consumer's timers.
    let (other, _) = setting.filter(Filter::null());
    setting.channel.advance(5_000);
    let header = Header {
        ttl: 1,
        created: 50,
        ..Header::new(codes::TIMEOUT, 0)
    };
    assert_eq!(recorder.take()[0].header, header);
    assert!(other.take().is_empty());
    assert_eq!(setting.channel.statistics().timed, 1);
}

#[test]
fn a_timers_node_accepts_no_event_of_a_supplier() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::interval(micros(5)));
    setting.push(codes::INTERVAL_TIMEOUT, 0, 1);
    assert!(recorder.take().is_empty());
}

#[test]
fn timers_of_the_longest_length_never_expire() {
    let setting = setting();
    let longest = Duration::from_nanos(u64::MAX);
    let timers = [
        Filter::timeout(Duration::MAX),
        Filter::interval(longest),
        Filter::deadline(longest),
    ];
    let (recorder, _) = setting.filter(Filter::any_of(timers));
    setting.channel.advance(1_000_000_000_000_000_000);
    setting.channel.advance(u64::MAX - 1);
    assert!(recorder.take().is_empty());
}

#[test]
fn a_clock_that_goes_back_changes_nothing() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::interval(micros(5)));
    setting.channel.advance(6_000);
    setting.channel.advance(1_000);
    setting.channel.advance(0);
    assert_eq!(times(&recorder).len(), 1);
    setting.channel.advance(10_000);
    assert_eq!(times(&recorder), [(codes::INTERVAL_TIMEOUT, 10)]);
}

#[test]
fn timers_end_with_their_subscription() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::interval(micros(5)));
    setting.channel.advance(6_000);
    handle
        .change(Subscription::new(Filter::interval(micros(7))))
        .unwrap();
    setting.channel.advance(21_000);
    let seen: Vec<_> = times(&recorder).iter().map(|one| one.1).collect();
    assert_eq!(seen, [5, 13, 20]);
    handle.disconnect();
    assert_eq!(setting.channel.advance(100_000), None);
    assert!(recorder.take().is_empty());
}

#[test]
fn a_suspended_consumer_loses_the_events_of_its_timers() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::interval(micros(5)));
    handle.suspend().unwrap();
    setting.channel.advance(10_000);
    handle.resume().unwrap();
    setting.channel.advance(15_000);
    assert_eq!(times(&recorder), [(codes::INTERVAL_TIMEOUT, 15)]);
    assert_eq!(handle.status().suspended, 2);
}

#[test]
fn a_negated_timer_rejects_its_own_events_and_accepts_others() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::not(Filter::interval(micros(5))));
    setting.channel.advance(20_000);
    assert!(recorder.take().is_empty());
    setting.push(20, 0, 1);
    assert_eq!(recorder.data(), [1]);
}

#[test]
fn timers_expire_at_ticks_of_the_resolution_and_never_early() {
    let setting = Setting::new(ChannelOptions {
        clock: Clock::Manual,
        timer_resolution: Duration::from_millis(1),
        ..ChannelOptions::default()
    });
    let (recorder, _) = setting.filter(Filter::timeout(micros(1_500)));
    setting.channel.advance(1_999_999);
    assert!(recorder.take().is_empty());
    setting.channel.advance(2_000_000);
    assert_eq!(times(&recorder), [(codes::TIMEOUT, 2_000)]);
}
