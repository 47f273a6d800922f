//! Core: the state of a channel.

use super::control::Control;
use super::nesting::Nested;
use super::observers::{Observers, Side};
use super::suppliers::{SupplierLink, Suppliers};
use crate::dispatch::{Dispatcher, Link, Owner, caught};
use crate::error::{ConnectError, PushError};
use crate::event::{Event, Payload};
use crate::filter::Tree;
use crate::level::Level;
use crate::options::{ChannelOptions, Dispatching, OptionsError};
use crate::peer::{Consumer, ConsumerId, Reason, Selector, SupplierId};
use crate::route::{Connection, Deliveries, Due, Refused, Subscribed, Table};
use crate::subscription::{LevelFunction, QueueOptions, Subscription};
use crate::timer::{ChannelClock, Lanes, Now};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// State of a channel, which its handles share.
pub(super) struct Core<P: Payload> {
    pub(super) options: ChannelOptions,
    pub(super) table: Table<P>,
    pub(super) suppliers: Suppliers,
    pub(super) observers: Observers,
    pub(super) clock: ChannelClock,
    /// Number of events that suppliers pushed.
    pub(super) received: AtomicU64,
    /// Number of events of timers.
    pub(super) timed: AtomicU64,
    pub(super) deliveries: Deliveries<P>,
    pub(super) lanes: Lanes<Due<P>>,
    /// Questions to peers, if the options ask for them.
    pub(super) control: Option<Control>,
    /// Data of timers' events.
    pub(super) empty: P,
    next_consumer: AtomicU64,
    is_destroyed: AtomicBool,
    pub(super) own: Weak<Self>,
}

impl<P: Payload> Core<P> {
    pub(super) fn new(options: ChannelOptions) -> Result<Arc<Self>, OptionsError> {
        options.check()?;
        let clock = ChannelClock::new(options.clock);
        let resolution = u64::try_from(options.timer_resolution.as_nanos()).unwrap_or(u64::MAX);
        let now = clock.now();
        let control = |liveness| Control::new(liveness, resolution, now);
        Ok(Arc::new_cyclic(|own| Self {
            table: Table::new(options.most_routes),
            suppliers: Suppliers::new(options.most_suppliers, options.most_publications),
            observers: Observers::default(),
            lanes: Lanes::new(resolution, options.most_timer_levels),
            control: options.liveness.map(control),
            empty: P::empty(),
            clock,
            received: AtomicU64::new(0),
            timed: AtomicU64::new(0),
            deliveries: Deliveries::new(matches!(options.dispatching, Dispatching::Reactive)),
            next_consumer: AtomicU64::new(0),
            is_destroyed: AtomicBool::new(false),
            own: own.clone(),
            options,
        }))
    }

    /// Delivers events of a supplier.
    pub(super) fn push(&self, link: &SupplierLink, events: &[Event<P>]) -> Result<(), PushError> {
        if !link.is_connected() {
            return Err(PushError::Disconnected);
        }
        let limit = self.options.largest_event;
        for (index, event) in events.iter().enumerate() {
            let size = event.data.size();
            if size > limit {
                return Err(PushError::TooLarge { index, size, limit });
            }
        }
        let limit = self.options.most_nesting;
        let Some(_nested) = Nested::enter(limit) else {
            return Err(PushError::TooDeep { limit });
        };
        self.received
            .fetch_add(events.len() as u64, Ordering::Relaxed);
        let now = Now::new(&self.clock);
        self.deliveries.deliver(&self.table, events, &now);
        Ok(())
    }

    pub(super) fn connect_consumer(
        &self,
        subscription: Subscription,
        consumer: Arc<dyn Consumer<P>>,
    ) -> Result<(ConsumerId, Arc<Connection<P>>), ConnectError> {
        let (tree, rest) = self.prepare(subscription)?;
        let lanes = self.lanes(&tree)?;
        self.start_control()?;
        let id = ConsumerId(self.next_consumer.fetch_add(1, Ordering::Relaxed));
        let owner: Weak<dyn Owner> = self.own.clone();
        let link = Link::new(
            id,
            consumer,
            self.options.most_failures,
            self.options.reports.clone(),
            owner,
        );
        let connection = Connection::new(
            link,
            self.dispatcher().cloned(),
            self.options.levels_per_consumer,
            rest.queue,
        );
        let new = Arc::new(rest.subscribed(Arc::new(connection), tree));
        let most = self.options.most_consumers;
        self.table
            .add(new.clone(), most)
            .map_err(|refused| match refused {
                Refused::Full => ConnectError::Full {
                    what: "consumers",
                    option: "most_consumers",
                    limit: most,
                },
                Refused::Closed | Refused::NotThere => ConnectError::Destroyed,
            })?;
        new.start_timers(self.clock.now(), &lanes);
        self.observers.replace(Side::Consumers, &[], wanted(&new));
        Ok((id, new.connection.clone()))
    }

    pub(super) fn change_consumer(
        &self,
        id: ConsumerId,
        subscription: Subscription,
    ) -> Result<(), ConnectError> {
        let (tree, rest) = self.prepare(subscription)?;
        let lanes = self.lanes(&tree)?;
        let now = self.table.get(id).ok_or(ConnectError::Disconnected)?;
        let queue = rest.queue;
        let new = Arc::new(rest.subscribed(now.connection.clone(), tree));
        let replaced = self.table.replace(new.clone());
        let old = replaced.map_err(|_| ConnectError::Disconnected)?;
        old.end_timers();
        new.start_timers(self.clock.now(), &lanes);
        new.connection.set_queue(queue);
        self.observers
            .replace(Side::Consumers, wanted(&old), wanted(&new));
        Ok(())
    }

    /// Ends a consumer's connection; does nothing if it has ended.
    pub(super) fn end_consumer(&self, id: ConsumerId, reason: &Reason) {
        let Some(old) = self.table.remove(id) else {
            return;
        };
        let link = &old.connection.link;
        link.disconnect();
        old.end_timers();
        old.connection.end();
        self.observers.replace(Side::Consumers, wanted(&old), &[]);
        if *reason != Reason::Asked {
            caught(|| link.consumer.disconnected(reason));
        }
        if let Some(reports) = &self.options.reports {
            caught(|| reports.disconnected(id, reason));
        }
    }

    pub(super) fn end_supplier(&self, id: SupplierId, reason: &Reason) {
        let reports = self.options.reports.as_deref();
        self.suppliers.end(id, reason, &self.observers, reports);
    }

    /// Disconnects all peers. Does nothing if the channel has been destroyed.
    pub(super) fn destroy(&self) {
        if self.is_destroyed.swap(true, Ordering::AcqRel) {
            return;
        }
        for id in self.suppliers.close() {
            self.end_supplier(id, &Reason::Destroyed);
        }
        for id in self.table.close() {
            self.end_consumer(id, &Reason::Destroyed);
        }
        self.observers.clear();
        self.stop_threads();
    }

    fn stop_threads(&self) {
        self.lanes.all().iter().for_each(|lane| lane.stop());
        if let Some(control) = &self.control {
            control.stop();
        }
    }

    /// Starts the threads that ask peers, if the options ask for them.
    pub(super) fn start_control(&self) -> Result<(), ConnectError> {
        match &self.control {
            Some(control) if !self.clock.is_manual() => {
                let core = self.own.clone();
                control.start(move || {
                    if let Some(core) = core.upgrade() {
                        core.ask_all();
                    }
                })?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn dispatcher(&self) -> Option<&Arc<dyn Dispatcher>> {
        match &self.options.dispatching {
            Dispatching::Reactive => None,
            Dispatching::Queued(dispatcher) => Some(dispatcher),
        }
    }

    /// Makes a filter ready, and the threads for its levels.
    fn prepare(&self, subscription: Subscription) -> Result<(Tree, Rest), ConnectError> {
        if self.is_destroyed.load(Ordering::Acquire) {
            return Err(ConnectError::Destroyed);
        }
        check_queue(&subscription.queue)?;
        let rest = Rest {
            level: subscription.level,
            level_of: subscription.level_of,
            queue: subscription.queue,
            is_gateway: subscription.is_gateway,
        };
        let tree = Tree::new(
            subscription.filter,
            &self.options.filter_limits,
            rest.level,
            self.options.schedule.as_deref(),
        )?;
        if let Some(dispatcher) = self.dispatcher() {
            for level in tree.levels() {
                dispatcher.prepare(level)?;
            }
        }
        Ok((tree, rest))
    }
}

impl<P: Payload> Owner for Core<P> {
    fn end(&self, consumer: ConsumerId, reason: Reason) {
        self.end_consumer(consumer, &reason);
    }
}

/// Subscription without its filter.
struct Rest {
    level: Level,
    level_of: Option<LevelFunction>,
    queue: QueueOptions,
    is_gateway: bool,
}

impl Rest {
    fn subscribed<P: Payload>(self, connection: Arc<Connection<P>>, tree: Tree) -> Subscribed<P> {
        Subscribed::new(
            connection,
            tree,
            self.level,
            self.level_of,
            self.is_gateway,
            self.queue.bytes,
        )
    }
}

/// Returns what observers see of a subscription.
fn wanted<P>(subscribed: &Subscribed<P>) -> &[Selector] {
    match subscribed.is_gateway {
        true => &[],
        false => subscribed.tree.selectors(),
    }
}

fn check_queue(queue: &QueueOptions) -> Result<(), ConnectError> {
    let zero = |name| Err(ConnectError::Queue(OptionsError::Zero { name }));
    match queue {
        QueueOptions { events: 0, .. } => zero("queue.events"),
        QueueOptions { batch: 0, .. } => zero("queue.batch"),
        _ => Ok(()),
    }
}
