//! Connection: a consumer's link, and its mailboxes.

use crate::dispatch::{Dispatcher, Link, Mailbox, Unit};
use crate::event::{Event, Payload};
use crate::level::Level;
use crate::subscription::QueueOptions;
use parking_lot::RwLock;
use std::sync::Arc;

/// Connection of a consumer, which stays the same while its subscription changes.
pub(crate) struct Connection<P> {
    pub(crate) link: Arc<Link<P>>,
    /// Strategy that serves mailboxes; `None` if suppliers' threads push.
    dispatcher: Option<Arc<dyn Dispatcher>>,
    most_levels: usize,
    mailboxes: RwLock<Mailboxes<P>>,
}

struct Mailboxes<P> {
    options: QueueOptions,
    /// Mailboxes, one for each level, the most urgent first.
    all: Vec<Arc<Mailbox<P>>>,
}

impl<P: Payload> Connection<P> {
    pub(crate) fn new(
        link: Link<P>,
        dispatcher: Option<Arc<dyn Dispatcher>>,
        most_levels: usize,
        options: QueueOptions,
    ) -> Self {
        Self {
            link: Arc::new(link),
            dispatcher,
            most_levels,
            mailboxes: RwLock::new(Mailboxes {
                options,
                all: Vec::new(),
            }),
        }
    }

    /// Delivers events at a level: pushes them, or puts them into the level's mailbox.
    pub(crate) fn deliver(&self, events: &[Event<P>], unit: Unit, level: Level) {
        match self.mailbox(level) {
            Some(mailbox) => mailbox.put(events, unit),
            None => self.link.push(events),
        }
    }

    /// Returns whether suppliers' threads push to the consumer.
    pub(crate) fn is_reactive(&self) -> bool {
        self.dispatcher.is_none()
    }

    /// Returns the mailbox of a level, or of the nearest one, if there may be no more; `None` if the channel has no mailboxes.
    pub(crate) fn mailbox(&self, level: Level) -> Option<Arc<Mailbox<P>>> {
        let dispatcher = self.dispatcher.as_ref()?;
        let found = self.mailboxes.read().find(level, self.most_levels);
        found.or_else(|| {
            let mut mailboxes = self.mailboxes.write();
            let found = mailboxes.find(level, self.most_levels);
            Some(
                found
                    .unwrap_or_else(|| mailboxes.add(self.link.clone(), level, dispatcher.clone())),
            )
        })
    }

    pub(crate) fn set_queue(&self, options: QueueOptions) {
        let mut mailboxes = self.mailboxes.write();
        mailboxes.options = options;
        for mailbox in &mailboxes.all {
            mailbox.set_options(options);
        }
    }

    /// Ends the mailboxes. The link has been disconnected, so that there will be no others.
    pub(crate) fn end(&self) {
        for mailbox in self.all() {
            mailbox.end();
        }
    }

    /// Returns all mailboxes.
    pub(crate) fn all(&self) -> Vec<Arc<Mailbox<P>>> {
        self.mailboxes.read().all.clone()
    }
}

impl<P: Payload> Mailboxes<P> {
    fn find(&self, level: Level, most: usize) -> Option<Arc<Mailbox<P>>> {
        let place = self.all.partition_point(|mailbox| mailbox.level < level);
        let next = self.all.get(place);
        let is_found = next.is_some_and(|mailbox| mailbox.level == level);
        if is_found || self.all.len() >= most {
            return next.or(self.all.last()).cloned();
        }
        None
    }

    fn add(
        &mut self,
        link: Arc<Link<P>>,
        level: Level,
        dispatcher: Arc<dyn Dispatcher>,
    ) -> Arc<Mailbox<P>> {
        let mailbox = Arc::new(Mailbox::new(link, level, self.options, dispatcher));
        let place = self.all.partition_point(|mailbox| mailbox.level < level);
        self.all.insert(place, mailbox.clone());
        mailbox
    }
}
