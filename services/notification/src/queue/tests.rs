//! The queue against a list that is searched from end to end.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// List that does what the queue does, without an idea of how.
struct Naive {
    order: Order,
    discard: Discard,
    bounds: Bounds,
    next: u64,
    /// Events with the numbers of their arrival.
    events: Vec<(u64, Entry<u32>)>,
}

impl Naive {
    fn push(&mut self, entry: Entry<u32>, now: Instant) -> Lost {
        self.events.push((self.next, entry));
        self.next += 1;
        self.trim(now)
    }

    fn trim(&mut self, now: Instant) -> Lost {
        let mut lost = Lost::default();
        if !self.is_full() {
            return lost;
        }
        let before = self.events.len();
        self.events.retain(|(_, entry)| !entry.has_ended(now));
        lost.expired = before - self.events.len();
        while self.is_full() {
            let victim = (0..self.events.len())
                .min_by(|a, b| self.gives_up(*a, *b))
                .unwrap();
            self.events.remove(victim);
            lost.discarded += 1;
        }
        lost
    }

    fn is_full(&self) -> bool {
        let bytes: usize = self.events.iter().map(|(_, entry)| entry.bytes).sum();
        let is_over = self.events.len() > self.bounds.events || bytes > self.bounds.bytes;
        is_over && self.events.len() > 1
    }

    fn gives_up(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let ((a_number, a), (b_number, b)) = (&self.events[a], &self.events[b]);
        let by_age = a_number.cmp(b_number);
        match self.discard {
            Discard::Fifo => by_age,
            Discard::Lifo => by_age.reverse(),
            Discard::Priority => a.priority.cmp(&b.priority).then(by_age),
            Discard::Deadline => earlier(a, b).then(by_age),
        }
    }

    fn take(&mut self, most: usize, now: Instant) -> (Vec<u32>, usize) {
        let order = self.order;
        self.events.sort_by(|(a_number, a), (b_number, b)| {
            let by_age = a_number.cmp(b_number);
            match order {
                Order::Fifo => by_age,
                Order::Priority => b.priority.cmp(&a.priority).then(by_age),
                Order::Deadline => earlier(a, b).then(by_age),
            }
        });
        let (mut taken, mut expired) = (Vec::new(), 0);
        while taken.len() < most && !self.events.is_empty() {
            let (_, entry) = self.events.remove(0);
            match entry.has_ended(now) {
                true => expired += 1,
                false => taken.push(entry.event),
            }
        }
        (taken, expired)
    }
}

fn earlier(a: &Entry<u32>, b: &Entry<u32>) -> std::cmp::Ordering {
    match (a.ends, b.ends) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push {
        priority: i16,
        /// Milliseconds from the beginning.
        ends: Option<u64>,
        bytes: usize,
    },
    Take(usize),
    /// Takes events, and puts them back as after a push that failed.
    Retry(usize),
    Wait(u64),
    Change(Order, Discard, Bounds),
}

fn policies() -> impl Strategy<Value = (Order, Discard, Bounds)> {
    let orders = prop::sample::select(vec![Order::Fifo, Order::Priority, Order::Deadline]);
    let discards = prop::sample::select(vec![
        Discard::Fifo,
        Discard::Lifo,
        Discard::Priority,
        Discard::Deadline,
    ]);
    let bounds = (1..6_usize, 1..60_usize).prop_map(|(events, bytes)| Bounds { events, bytes });
    (orders, discards, bounds)
}

fn steps() -> impl Strategy<Value = Step> {
    let priority = prop_oneof![Just(i16::MIN), Just(i16::MAX), -2..3_i16];
    let push = (priority, prop::option::of(0..40_u64), 0..30_usize);
    prop_oneof![
        6 => push.prop_map(|(priority, ends, bytes)| Step::Push { priority, ends, bytes }),
        2 => (0..4_usize).prop_map(Step::Take),
        1 => (0..4_usize).prop_map(Step::Retry),
        1 => (0..10_u64).prop_map(Step::Wait),
        1 => policies().prop_map(|(order, discard, bounds)| Step::Change(order, discard, bounds)),
    ]
}

fn events(taken: &Taken<u32>) -> Vec<u32> {
    taken.events.iter().map(|one| one.entry.event).collect()
}

proptest! {
    #[test]
    fn the_queue_does_what_a_list_does(
        (order, discard, bounds) in policies(),
        steps in prop::collection::vec(steps(), 0..60),
    ) {
        let mut queue = Queue::new(order, discard, bounds);
        let mut naive = Naive { order, discard, bounds, next: 0, events: Vec::new() };
        let begin = Instant::now();
        let (mut now, mut number) = (begin, 0);
        for step in steps {
            match step {
                Step::Push { priority, ends, bytes } => {
                    let ends = ends.map(|millis| begin + Duration::from_millis(millis));
                    let entry = Entry { event: number, priority, ends, bytes, position: None };
                    number += 1;
                    prop_assert_eq!(queue.push(entry.clone(), now), naive.push(entry, now));
                }
                Step::Take(most) => {
                    let taken = queue.take(most, now);
                    prop_assert_eq!((events(&taken), taken.expired), naive.take(most, now));
                }
                Step::Retry(most) => {
                    let taken = queue.take(most, now);
                    let kept = naive.events.to_vec();
                    let (again, expired) = naive.take(most, now);
                    prop_assert_eq!((events(&taken), taken.expired), (again.clone(), expired));
                    let back = |(_, entry): &&(u64, Entry<u32>)| again.contains(&entry.event);
                    naive.events.extend(kept.iter().filter(back).cloned());
                    prop_assert_eq!(queue.put_back(taken.events, now), Lost::default());
                }
                Step::Wait(millis) => now += Duration::from_millis(millis),
                Step::Change(order, discard, bounds) => {
                    (naive.order, naive.discard, naive.bounds) = (order, discard, bounds);
                    prop_assert_eq!(queue.change(order, discard, bounds, now), naive.trim(now));
                }
            }
            prop_assert_eq!(queue.len(), naive.events.len());
            prop_assert_eq!(queue.len(), queue.victims.len());
        }
        prop_assert_eq!(queue.clear(), naive.events.len());
        prop_assert_eq!((queue.len(), queue.bytes), (0, 0));
    }
}

#[test]
fn an_event_that_is_put_back_is_the_next_of_its_priority() {
    let now = Instant::now();
    let bounds = Bounds {
        events: 9,
        bytes: 9,
    };
    let mut queue = Queue::new(Order::Priority, Discard::Fifo, bounds);
    for (event, priority) in [(1, 0), (2, 0), (3, 5)] {
        let entry = Entry {
            event,
            priority,
            ends: None,
            bytes: 1,
            position: None,
        };
        queue.push(entry, now);
    }
    let taken = queue.take(2, now);
    assert_eq!(events(&taken), [3, 1]);
    queue.put_back(taken.events, now);
    assert_eq!(events(&queue.take(3, now)), [3, 1, 2]);
}

#[test]
fn events_of_the_log_are_not_given_up_and_the_ends_of_their_lives_are_noted() {
    let now = Instant::now();
    let bounds = Bounds {
        events: 2,
        bytes: 9,
    };
    let entry = |event, position, ends| Entry {
        event,
        priority: 0,
        ends,
        bytes: 1,
        position,
    };
    let mut queue = Queue::new(Order::Fifo, Discard::Fifo, bounds);
    let soon = now + Duration::from_secs(1);
    for event in 0..3 {
        let position = Position(u64::from(event));
        let lost = queue.push(entry(event, Some(position), Some(soon)), now);
        assert_eq!(lost, Lost::default());
    }
    assert_eq!(queue.room().events, 0);
    // One that is not in the log has no room beside them.
    assert_eq!(queue.push(entry(3, None, None), now).discarded, 1);
    assert_eq!(events(&queue.take(1, now)), [0]);
    assert_eq!(queue.take_ended(), []);
    assert_eq!(queue.take(1, soon).expired, 2);
    assert_eq!(queue.take_ended(), [Position(1), Position(2)]);
}
