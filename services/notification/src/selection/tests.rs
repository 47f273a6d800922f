use std::collections::BTreeSet;

use proptest::prelude::*;
use punctual::Any;
use punctual_constraint::{Grammar, Limits};

use super::*;
use crate::cos_notification::{EventType, Property, StructuredEvent};
use crate::hub::Verdicts;

/// Subscriber with constraints, of which one has to be true; without any, it takes all.
struct Filtering {
    number: u64,
    constraints: RwLock<Option<Vec<Constraint>>>,
}

impl Filtering {
    fn takes(&self, event: &Event) -> bool {
        let constraints = self.constraints.read();
        let constraints = constraints.as_deref();
        constraints.is_none_or(|all| all.iter().any(|one| one.matches(event)))
    }
}

impl Subscriber for Filtering {
    fn number(&self) -> u64 {
        self.number
    }

    fn needs(&self) -> Option<Vec<Constraint>> {
        self.constraints.read().clone()
    }

    fn take(&self, _: &Arc<Event>, _: &mut Verdicts) {}
}

fn compiled(text: &str) -> Constraint {
    Constraint::compile(Grammar::ExtendedTcl, text, &Limits::DEFAULT).unwrap()
}

fn event(kind: usize, level: i32) -> Event {
    let mut event = StructuredEvent::default();
    event.header.fixed_header.event_type = EventType {
        domain_name: "D".to_owned(),
        type_name: format!("T{kind}"),
    };
    event.filterable_data = vec![Property {
        name: "level".to_owned(),
        value: Any::new(&level).unwrap(),
    }];
    Event::of_structured(event)
}

/// Index with subscribers, and these.
struct Channel {
    index: Subscribers,
    generation: Generation,
    selection: Selection,
    all: Vec<(Types, Arc<Filtering>)>,
}

impl Channel {
    fn new(subscribers: &[(usize, Option<Vec<String>>)]) -> Self {
        let mut index = Index::default();
        let mut all = Vec::new();
        for (number, (types, texts)) in subscribers.iter().enumerate() {
            let number = number as u64;
            let constraints = texts.as_ref();
            let constraints =
                constraints.map(|texts| texts.iter().map(|one| compiled(one)).collect());
            let subscriber = Arc::new(Filtering {
                number,
                constraints: RwLock::new(constraints),
            });
            let types = types_of(*types);
            let shared: Arc<dyn Subscriber> = subscriber.clone();
            index.insert(number, types.clone(), &shared);
            all.push((types, subscriber));
        }
        Self {
            index: RwLock::new(index),
            generation: Generation::default(),
            selection: Selection::default(),
            all,
        }
    }

    /// Returns the numbers of those who take an event, by the selection and by asking all.
    fn takers(&self, event: &Event) -> (Vec<u64>, Vec<u64>) {
        let asked = self.selection.of(&self.index, &self.generation, event);
        let asked: Vec<u64> = asked.iter().map(|one| one.number()).collect();
        let each: BTreeSet<u64> = asked.iter().copied().collect();
        assert_eq!(each.len(), asked.len(), "one is asked twice");
        let (domain, name) = event.type_names();
        let takes =
            |one: &&(Types, Arc<Filtering>)| one.0.include(domain, name) && one.1.takes(event);
        let wanted = self.all.iter().filter(takes).map(|one| one.1.number);
        let of_asked = self.all.iter().filter(|one| each.contains(&one.1.number));
        let found = of_asked.filter(takes).map(|one| one.1.number);
        (found.collect(), wanted.collect())
    }

    fn is_made(&self) -> bool {
        self.selection.0.read().made.is_some()
    }
}

fn types_of(kind: usize) -> Types {
    let pattern = |name: &str| EventType {
        domain_name: "D".to_owned(),
        type_name: name.to_owned(),
    };
    match kind {
        0 => Types::All,
        1 => Types::All.changed(&[pattern("T*")], &[], 9).unwrap(),
        2 => Types::All
            .changed(&[pattern("*1"), pattern("*0")], &[], 9)
            .unwrap(),
        _ => Types::All.changed(&[pattern("T1")], &[], 9).unwrap(),
    }
}

fn constraint() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..4_usize).prop_map(|kind| format!("$type_name == 'T{kind}'")),
        (0..4_i32).prop_map(|level| format!("$level == {level}")),
        (0..4_i32).prop_map(|level| format!("$level > {level}")),
        (0..4_usize, 0..4_i32)
            .prop_map(|(kind, level)| format!("$type_name == 'T{kind}' and $level > {level}")),
        (0..4_usize, 0..4_i32)
            .prop_map(|(kind, level)| format!("$type_name == 'T{kind}' or $level == {level}")),
        Just("$absent == 1".to_owned()),
    ]
}

fn subscriber() -> impl Strategy<Value = (usize, Option<Vec<String>>)> {
    (
        0..4_usize,
        prop::option::of(prop::collection::vec(constraint(), 0..4)),
    )
}

proptest! {
    #[test]
    fn the_same_subscribers_take_an_event_whether_all_are_asked_or_those_selected(
        subscribers in prop::collection::vec(subscriber(), FEW + 9..FEW + 30),
        changes in prop::collection::vec((0..FEW, prop::option::of(constraint())), 0..2),
    ) {
        let channel = Channel::new(&subscribers);
        for change in std::iter::once(None).chain(changes.into_iter().map(Some)) {
            if let Some((number, text)) = change {
                let constraints = text.map(|text| vec![compiled(&text)]);
                *channel.all[number].1.constraints.write() = constraints;
                channel.generation.change();
            }
            for round in 0..25 {
                for kind in 0..4 {
                    let (found, wanted) = channel.takers(&event(kind, round % 4));
                    prop_assert_eq!(found, wanted);
                }
            }
            let wild = channel.index.read().wild().len();
            prop_assert_eq!(channel.is_made(), wild >= FEW);
        }
    }
}

#[test]
fn those_who_need_another_value_are_not_asked() {
    let subscribers: Vec<_> = (0..100)
        .map(|kind| {
            (
                0,
                Some(vec![format!("$type_name == 'T{kind}' and $level > 1")]),
            )
        })
        .collect();
    let channel = Channel::new(&subscribers);
    let ask = || {
        channel
            .selection
            .of(&channel.index, &channel.generation, &event(7, 3))
            .len()
    };
    let asked: Vec<_> = (0..101).map(|_| ask()).collect();
    assert_eq!(asked.iter().filter(|asked| **asked == 100).count(), 100);
    assert_eq!(asked.last(), Some(&1));
    channel.generation.change();
    assert_eq!(ask(), 100);
}

#[test]
fn a_subscriber_that_has_left_is_dropped_though_no_event_has_come_since() {
    let subscribers: Vec<_> = (0..FEW)
        .map(|kind| (0, Some(vec![format!("$type_name == 'T{kind}'")])))
        .collect();
    let mut channel = Channel::new(&subscribers);
    while !channel.is_made() {
        channel.takers(&event(0, 0));
    }
    let left = Arc::downgrade(&channel.all.remove(0).1);
    channel.index.write().remove(0);
    channel.generation.change();
    assert!(left.upgrade().is_none());
}
