//! Random streams of events and time.

use super::random::Random;
use super::reference::{Model, Sample};
use super::spec::{KINDS, SOURCES, Spec};
use crate::support::peers::{Numbered, Recorder, Setting};
use punctual_rtevent::{ChannelOptions, Clock, Filter, FilterLimits};
use std::sync::Arc;
use std::time::Duration;

/// Returns the number of streams.
fn streams() -> u64 {
    let given = std::env::var("PUNCTUAL_RTEVENT_STREAMS");
    given.map_or(1_000, |count| count.parse().unwrap())
}

#[test]
fn random_filters_pass_what_the_reference_passes() {
    for seed in 1..=streams() {
        Stream::new(seed).run();
    }
}

#[test]
fn random_filters_are_the_same_from_entries_and_from_functions() {
    for seed in 1..=streams() {
        let spec = Spec::random(&mut Random::new(seed), 5);
        let mut entries = Vec::new();
        spec.prefix(&mut entries);
        if !spec.has_leaf_of_timer() {
            assert_eq!(Filter::from_prefix(&entries).unwrap(), spec.filter());
        }
    }
}

/// Channel with a few consumers, and a model of each.
struct Stream {
    seed: u64,
    random: Random,
    setting: Setting,
    consumers: Vec<(Spec, Arc<Recorder>, Model)>,
    now: u64,
    data: u64,
}

impl Stream {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let resolution = random.one_of(&[1, 1, 64, 1_000]);
        let setting = Setting::new(ChannelOptions {
            clock: Clock::Manual,
            timer_resolution: Duration::from_nanos(resolution),
            filter_limits: FilterLimits {
                least_timeout: Duration::ZERO,
                ..FilterLimits::default()
            },
            most_routes: random.one_of(&[0, 2, 1_000]),
            ..ChannelOptions::default()
        });
        let consumers = (0..3).map(|_| {
            let spec = Spec::random(&mut random, 4);
            let (recorder, _) = setting.filter(spec.filter());
            let model = Model::new(&spec, resolution, 0);
            (spec, recorder, model)
        });
        Self {
            seed,
            consumers: consumers.collect(),
            setting,
            random,
            now: 0,
            data: 0,
        }
    }

    fn run(mut self) {
        for step in 0..60 {
            match self.random.below(5) {
                0 => self.advance(),
                1 => self.push(4),
                _ => self.push(1),
            }
            for (spec, recorder, model) in &mut self.consumers {
                let expected = std::mem::take(&mut model.received).concat();
                let expected: Vec<_> = expected.iter().map(seen).collect();
                let received = recorder.take();
                let received: Vec<_> = received.iter().map(seen_of).collect();
                assert_eq!(
                    received, expected,
                    "stream {}, step {step}: {spec:?}",
                    self.seed
                );
            }
        }
    }

    /// Pushes events together.
    fn push(&mut self, most: u64) {
        let count = 1 + self.random.below(most);
        let events: Vec<_> = (0..count)
            .map(|_| {
                self.data += 1;
                let (kind, source) = (self.random.one_of(&KINDS), self.random.one_of(&SOURCES));
                Sample::of_supplier(kind, source, self.data)
            })
            .collect();
        let numbered: Vec<_> = events
            .iter()
            .map(|one| crate::support::peers::event(one.kind, one.source, one.data))
            .collect();
        self.setting.supplier.push(&numbered).unwrap();
        for (_, _, model) in &mut self.consumers {
            events.iter().for_each(|event| model.push(*event, self.now));
        }
    }

    fn advance(&mut self) {
        let step = self.random.below(4_000) >> self.random.below(6);
        let until = self.now + step;
        self.setting.channel.advance(until);
        for (_, _, model) in &mut self.consumers {
            while let Some(next) = model.next().filter(|next| *next <= until) {
                model.tick(next);
            }
        }
        self.now = until;
    }
}

fn seen(event: &Sample) -> (i32, i32, u64) {
    (event.kind, event.source, event.data)
}

fn seen_of(event: &Numbered) -> (i32, i32, u64) {
    (event.header.kind, event.header.source, event.data)
}
