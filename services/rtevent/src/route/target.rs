//! Routes: what consumers do with events of one type and source.

use super::subscribed::Subscribed;
use crate::dispatch::{Mailbox, Unit};
use crate::event::{Event, Payload};
use crate::filter::{Path, Subject};
use crate::level::Level;
use std::sync::{Arc, OnceLock};

/// Consumers that accept events of one type and source: the most urgent first, then by the time of their
/// connection.
pub(crate) struct Route<P> {
    pub(super) targets: Box<[Target<P>]>,
    /// Whether the order of targets is that of all of their deliveries.
    pub(super) is_ordered: bool,
}

/// Consumer that accepts the events of a route.
pub(super) struct Target<P> {
    pub(super) subscribed: Arc<Subscribed<P>>,
    pub(super) reach: Reach,
    /// Most urgent level of deliveries.
    level: Level,
    /// Mailbox of the level, for a consumer with one level.
    mailbox: OnceLock<Arc<Mailbox<P>>>,
}

/// Way from an event to its consumer.
pub(super) enum Reach {
    /// Each event reaches it by itself, at this level.
    Plain(Level),
    /// Conjunctions collect events.
    Collected(Path),
}

impl<P: Payload> Route<P> {
    /// Makes the route of events from all subscriptions that may accept them.
    pub(super) fn new<'s>(
        subscribed: impl Iterator<Item = &'s Arc<Subscribed<P>>>,
        subject: Subject,
    ) -> Self {
        let targets = subscribed.filter_map(|one| Target::new(one, subject));
        let mut targets: Vec<_> = targets.collect();
        targets.sort_by_key(|target| (target.level, target.subscribed.id()));
        Self {
            is_ordered: targets.iter().all(Target::has_one_level),
            targets: targets.into_boxed_slice(),
        }
    }

    /// Returns the number of parts that are kept with the route.
    pub(super) fn weight(&self) -> usize {
        let weight = |target: &Target<P>| match &target.reach {
            Reach::Plain(_) => 1,
            Reach::Collected(path) => 1 + path.weight(),
        };
        1 + self.targets.iter().map(weight).sum::<usize>()
    }
}

impl<P: Payload> Target<P> {
    fn new(subscribed: &Arc<Subscribed<P>>, subject: Subject) -> Option<Self> {
        let path = Path::new(&subscribed.tree, subject)?;
        Some(Self {
            subscribed: subscribed.clone(),
            level: path.most_urgent(),
            reach: match path.level_if_plain() {
                Some(level) if !subscribed.tree.collects() => Reach::Plain(level),
                _ => Reach::Collected(path),
            },
            mailbox: OnceLock::new(),
        })
    }

    fn has_one_level(&self) -> bool {
        let is_fixed = match &self.reach {
            Reach::Plain(_) => true,
            Reach::Collected(path) => path.has_one_level(),
        };
        is_fixed && !self.subscribed.has_level_function()
    }

    /// Delivers events that all have the target's level.
    pub(super) fn deliver(&self, events: &[Event<P>], unit: Unit) {
        let connection = &self.subscribed.connection;
        if connection.is_reactive() {
            return connection.link.push(events);
        }
        let mailbox = match self.mailbox.get() {
            Some(mailbox) => mailbox,
            None => match connection.mailbox(self.level) {
                Some(mailbox) => self.mailbox.get_or_init(|| mailbox),
                None => return,
            },
        };
        mailbox.put(events, unit);
    }
}
