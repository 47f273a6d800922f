//! Random filters, in a form that both implementations are made from.

use super::random::Random;
use punctual_rtevent::{Filter, Header, codes};
use std::time::Duration;

/// Filter as a tree.
#[derive(Clone, Debug)]
pub(crate) enum Spec {
    Event(i32, i32),
    Null,
    Masked((i32, i32), (i32, i32)),
    Bitmask(i32, i32, Box<Spec>),
    Any(Vec<Spec>),
    All(Vec<Spec>),
    Both(Vec<Spec>),
    Not(Box<Spec>),
    Timer(Style, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Once,
    Interval,
    Deadline,
}

/// Types of random events and filters.
pub(crate) const KINDS: [i32; 5] = [16, 17, 18, 24, -5];
/// Sources of random events and filters.
pub(crate) const SOURCES: [i32; 4] = [0, 1, 2, 6];

impl Style {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Once => codes::TIMEOUT,
            Self::Interval => codes::INTERVAL_TIMEOUT,
            Self::Deadline => codes::DEADLINE_TIMEOUT,
        }
    }
}

impl Spec {
    /// Returns a random filter of at most this depth. Conjunctions and timers are frequent.
    pub(crate) fn random(random: &mut Random, depth: u64) -> Self {
        let choice = random.below(if depth <= 1 { 8 } else { 16 });
        match choice {
            0..=4 => {
                let kind = random.one_of(&[16, 17, 18, 24, -5, 0, 5]);
                Self::Event(kind, random.one_of(&[0, 0, 1, 2]))
            }
            5 => Self::Null,
            6 => {
                let masks = (random.one_of(&[-1, 0, 1, 24]), random.one_of(&[-1, 0, 3]));
                let values = (random.one_of(&[0, 1, 16, 24]), random.one_of(&[0, 1, 2]));
                Self::Masked(masks, values)
            }
            7 => {
                let styles = [Style::Once, Style::Interval, Style::Deadline];
                Self::Timer(random.one_of(&styles), random.below(30) * 100 + 100)
            }
            8 => {
                let child = Self::random(random, depth - 1);
                let (kind, source) = (random.one_of(&[-1, 1, 16]), random.one_of(&[-1, 2, 3]));
                Self::Bitmask(kind, source, Box::new(child))
            }
            9 => Self::Not(Box::new(Self::random(random, depth - 1))),
            10 => Self::Both(Self::children(random, depth)),
            11..=12 => Self::Any(Self::children(random, depth)),
            _ => Self::All(Self::children(random, depth)),
        }
    }

    fn children(random: &mut Random, depth: u64) -> Vec<Self> {
        let count = random.below(4);
        (0..count)
            .map(|_| Self::random(random, depth - 1))
            .collect()
    }

    /// Returns the filter, made by functions.
    pub(crate) fn filter(&self) -> Filter {
        let all = |specs: &[Self]| specs.iter().map(Self::filter).collect::<Vec<_>>();
        match self {
            Self::Event(kind, source) => Filter::event(*kind, *source),
            Self::Null => Filter::null(),
            Self::Masked(masks, values) => Filter::masked(*masks, *values),
            Self::Bitmask(kind, source, child) => Filter::bitmask(*kind, *source, child.filter()),
            Self::Any(specs) => Filter::any_of(all(specs)),
            Self::All(specs) => Filter::all_of(all(specs)),
            Self::Both(specs) => Filter::both(all(specs)),
            Self::Not(child) => Filter::not(child.filter()),
            Self::Timer(style, length) => {
                let length = Duration::from_nanos(*length);
                match style {
                    Style::Once => Filter::timeout(length),
                    Style::Interval => Filter::interval(length),
                    Style::Deadline => Filter::deadline(length),
                }
            }
        }
    }

    /// Appends the entries of the filter, with counted children.
    pub(crate) fn prefix(&self, entries: &mut Vec<Header>) {
        let mut group = |code: i32, specs: &[Self]| {
            entries.push(Header::new(code, i32::try_from(specs.len()).unwrap()));
            specs.iter().for_each(|spec| spec.prefix(entries));
        };
        match self {
            Self::Any(specs) => group(codes::DISJUNCTION, specs),
            Self::All(specs) => group(codes::CONJUNCTION, specs),
            Self::Both(specs) => group(codes::LOGICAL_AND, specs),
            Self::Event(kind, source) => entries.push(Header::new(*kind, *source)),
            Self::Null => entries.push(Header::new(codes::NULL, 0)),
            Self::Masked(masks, values) => {
                entries.push(Header::new(codes::MASKED_TYPE, 0));
                entries.push(Header::new(masks.0, masks.1));
                entries.push(Header::new(values.0, values.1));
            }
            Self::Bitmask(kind, source, child) => {
                entries.push(Header::new(codes::BITMASK, 0));
                entries.push(Header::new(*kind, *source));
                child.prefix(entries);
            }
            Self::Not(child) => {
                entries.push(Header::new(codes::NEGATION, 0));
                child.prefix(entries);
            }
            Self::Timer(style, length) => entries.push(Header {
                created: length / 100,
                ..Header::new(style.code(), 0)
            }),
        }
    }

    /// Returns whether a leaf has the type of a timer, which entries cannot express.
    pub(crate) fn has_leaf_of_timer(&self) -> bool {
        match self {
            Self::Event(kind, _) => (4..=6).contains(kind),
            Self::Any(specs) | Self::All(specs) | Self::Both(specs) => {
                specs.iter().any(Self::has_leaf_of_timer)
            }
            Self::Bitmask(_, _, child) | Self::Not(child) => child.has_leaf_of_timer(),
            Self::Null | Self::Masked(..) | Self::Timer(..) => false,
        }
    }
}
