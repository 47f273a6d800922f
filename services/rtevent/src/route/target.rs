//! Routes: what consumers do with events of one type and source.

use super::subscribed::Subscribed;
use crate::dispatch::{Link, Mailbox, Unit};
use crate::event::{Event, Payload};
use crate::filter::{Path, Subject};
use crate::level::Level;
use std::sync::{Arc, OnceLock};

/// Consumers that accept events of one type and source: the most urgent first, then by the time of their
/// connection.
pub(crate) struct Route<P> {
    pub(super) targets: Box<[Target<P>]>,
    /// The order of the targets is that of all of their deliveries.
    pub(super) is_ordered: bool,
}

/// Consumer that accepts the events of a route. What a direct delivery needs stands here, as it is read for each event.
pub(super) struct Target<P> {
    pub(super) link: Arc<Link<P>>,
    pub(super) reach: Reach,
    is_reactive: bool,
    /// Most urgent level of deliveries.
    pub(super) level: Level,
    pub(super) subscribed: Arc<Subscribed<P>>,
    /// Mailbox of the level, for a consumer with one level.
    mailbox: OnceLock<Arc<Mailbox<P>>>,
}

/// Way from an event to its consumer.
pub(super) enum Reach {
    /// Each event is delivered alone, at the target's level.
    Direct,
    /// Each event is delivered alone, at a level that is computed for it, or restarts deadline timers.
    Single,
    /// Conjunctions collect events.
    Collected(Box<Path>),
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
            Reach::Direct | Reach::Single => 1,
            Reach::Collected(path) => 1 + path.weight(),
        };
        1 + self.targets.iter().map(weight).sum::<usize>()
    }
}

impl<P: Payload> Target<P> {
    fn new(subscribed: &Arc<Subscribed<P>>, subject: Subject) -> Option<Self> {
        let path = Path::new(&subscribed.tree, subject)?;
        let connection = &subscribed.connection;
        Some(Self {
            link: connection.link.clone(),
            is_reactive: connection.is_reactive(),
            level: path.most_urgent(),
            reach: match subscribed.tree.collects() {
                true => Reach::Collected(Box::new(path)),
                false if subscribed.is_plain() => Reach::Direct,
                false => Reach::Single,
            },
            subscribed: subscribed.clone(),
            mailbox: OnceLock::new(),
        })
    }

    fn has_one_level(&self) -> bool {
        let is_fixed = match &self.reach {
            Reach::Direct | Reach::Single => true,
            Reach::Collected(path) => path.has_one_level(),
        };
        is_fixed && !self.subscribed.has_level_function()
    }

    /// Delivers events that all have the target's level.
    #[inline]
    pub(super) fn deliver(&self, events: &[Event<P>], unit: Unit) {
        if self.is_reactive {
            return self.link.push(events);
        }
        let mailbox = match self.mailbox.get() {
            Some(mailbox) => mailbox,
            None => match self.subscribed.connection.mailbox(self.level) {
                Some(mailbox) => self.mailbox.get_or_init(|| mailbox),
                None => return,
            },
        };
        mailbox.put(events, unit);
    }
}
