//! Levels of deliveries.

use super::support::Stepped;
use crate::support::peers::Setting;
use punctual_rtevent::{
    ChannelOptions, Dependency, Filter, Header, Level, Schedule, Subscription, codes,
};
use std::sync::Arc;

/// Schedule in which handle `n` has priority `n`, up to 99.
struct Numbered;

impl Schedule for Numbered {
    fn level(&self, rt_info: i32) -> Option<Level> {
        let priority = i16::try_from(rt_info).ok().filter(|number| *number < 100)?;
        Some(Level::new(0, priority))
    }
}

fn scheduled() -> ChannelOptions {
    ChannelOptions {
        schedule: Some(Arc::new(Numbered)),
        ..ChannelOptions::default()
    }
}

fn priorities(stepped: &Stepped) -> Vec<i16> {
    stepped
        .waiting()
        .iter()
        .map(|level| level.priority)
        .collect()
}

#[test]
fn levels_are_ordered_by_group_and_then_by_falling_priority() {
    let mut levels = [(1, 9), (0, -5), (0, 7), (1, 0)].map(|(group, one)| Level::new(group, one));
    levels.sort();
    let sorted = levels.map(|level| (level.preemption_group, level.priority));
    assert_eq!(sorted, [(0, 7), (0, -5), (1, 9), (1, 0)]);
}

#[test]
fn a_consumer_receives_at_the_level_of_each_of_its_entries() {
    let (stepped, setting) = Stepped::setting(scheduled());
    let entry = |kind, rt_info| Dependency {
        header: Header::new(kind, 0),
        rt_info,
    };
    let entries = [
        entry(codes::DISJUNCTION, 0),
        entry(20, 5),
        entry(21, 9),
        entry(22, 0),
        entry(23, 500),
    ];
    let filter = Filter::from_basic(&entries).unwrap();
    let subscription = Subscription::new(filter).level(Level::new(0, 1));
    let (recorder, handle) = setting.record(subscription);
    for kind in [20, 21, 22, 23, 20] {
        setting.push(kind, 0, kind as u64);
    }
    // Entries without a handle that the schedule knows have the level of the subscription.
    assert_eq!(priorities(&stepped), [5, 9, 1]);
    assert_eq!(handle.status().queued, 5);
    stepped.run();
    assert_eq!(recorder.pushes(), [vec![20, 20], vec![21], vec![22, 23]]);
    assert_eq!(stepped.prepared().len(), 3);
}

#[test]
fn a_set_has_the_level_of_the_entry_that_completed_it() {
    let (stepped, setting) = Stepped::setting(scheduled());
    let pair = Filter::all_of([Filter::event(20, 0).scheduled_as(5), Filter::event(21, 0)]);
    setting.filter(pair.scheduled_as(7));
    setting.push(21, 0, 1);
    setting.push(20, 0, 2);
    assert_eq!(priorities(&stepped), [5]);
    stepped.run();
    setting.push(20, 0, 3);
    setting.push(21, 0, 4);
    assert_eq!(priorities(&stepped), [7]);
}

#[test]
fn a_level_is_computed_from_the_event() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let by_source = |header: &Header| Level::new(0, header.source as i16);
    setting.record(Subscription::new(Filter::null()).level_of(by_source));
    for source in [3, 1, 3, 2] {
        setting.push(20, source, 1);
    }
    assert_eq!(priorities(&stepped), [3, 1, 2]);
}

#[test]
fn reactive_deliveries_of_one_push_are_made_by_their_computed_levels() {
    let setting = Setting::new(ChannelOptions::default());
    let by_kind = |header: &Header| Level::new(0, header.kind as i16);
    let (recorder, _) = setting.record(Subscription::new(Filter::null()).level_of(by_kind));
    let events = [20, 22, 21, 22].map(|kind| crate::support::peers::event(kind, 0, kind as u64));
    setting.supplier.push(&events).unwrap();
    assert_eq!(recorder.pushes(), [vec![22, 22], vec![21], vec![20]]);
}

#[test]
fn the_number_of_levels_of_one_consumer_is_limited() {
    let (stepped, setting) = Stepped::setting(ChannelOptions {
        levels_per_consumer: 2,
        ..ChannelOptions::default()
    });
    let by_source = |header: &Header| Level::new(0, header.source as i16);
    let (recorder, _) = setting.record(Subscription::new(Filter::null()).level_of(by_source));
    for source in [5, 9, 7, 100, 1] {
        setting.push(20, source, source as u64);
    }
    // The next less urgent queue, or the least urgent.
    assert_eq!(priorities(&stepped), [5, 9]);
    stepped.run();
    assert_eq!(recorder.pushes(), [vec![5, 7, 1], vec![9, 100]]);
}
