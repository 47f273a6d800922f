//! `ProxyPullConsumer`: the channel pulls events from a supplier, as Anys or by the operations of an interface.
//!
//! It calls `try_pull` or `pull`, at most one call at a time and without a thread that waits for the reply. After an event
//! it calls again at once, else after the channel's interval. The `try_…` of a typed supplier's object are called in turn,
//! one at a time, and after the interval if none of them had an event; its `pull_…` are called all at once, each again
//! when it has returned.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use punctual::{Any, Interface as _, SystemException};
use punctual_events::peer::{Existence, bounded, is_gone};

use crate::channel::Channel;
use crate::common::Common;
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullConsumerConnectPullSupplierError, ProxyPullConsumerServant,
};
use crate::cos_event_comm::{
    PullConsumerServant, PullSupplier, PullSupplierPullError, PullSupplierTryPullError,
};
use crate::kept::ProxyKind as Kind;
use crate::limits::Pulling;
use crate::peer::TryPulled;
use crate::proxy::{Base, Core, Proxy};
use crate::refusal::Refusal;
use crate::typed::{PullInterface, PullTarget};
use crate::until_end::End;

/// Proxy for a supplier that is pulled from.
pub(crate) struct PullConsumerProxy {
    base: Base<PullSupplier>,
    channel: Arc<Channel>,
    /// Object that a typed proxy pulls from.
    target: Option<PullTarget>,
    /// End of the connection, with which calls of `pull` end.
    end: End,
    /// Number of times that pulling has failed. Of calls that were open, or waited for the interval, at the same time, the
    /// first to fail counts.
    failures: AtomicU64,
    own: Weak<Self>,
}

/// Next call to a supplier.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// First call, before which a typed supplier is asked for its object.
    First,
    /// Call of an operation; an untyped supplier has one.
    Next {
        operation: usize,
        /// Number of operations before this one, in succession, that had no event.
        without_event: usize,
    },
}

impl Turn {
    const fn of(operation: usize) -> Self {
        Self::Next {
            operation,
            without_event: 0,
        }
    }
}

/// Turn that is to come, and the number of failures when that was decided. A call that fails counts if no other has failed
/// since then.
#[derive(Clone, Copy, Debug)]
struct Due {
    turn: Turn,
    failures: u64,
}

impl PullConsumerProxy {
    /// Makes a proxy; `interface` is that of a typed one.
    pub(crate) fn new(
        channel: Arc<Channel>,
        number: u64,
        interface: Option<PullInterface>,
    ) -> Arc<Self> {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        let limits = &channel.common.limits;
        let target = |interface| PullTarget::new(interface, limits.pulling, limits.call_timeout);
        let target = interface.map(target);
        Arc::new_cyclic(|own| Self {
            base,
            channel,
            target,
            end: End::default(),
            failures: AtomicU64::new(0),
            own: own.clone(),
        })
    }

    /// Connects the supplier, whose connection is kept already, and begins to pull.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(crate) fn resume(&self, supplier: PullSupplier) -> Result<(), Refusal> {
        self.base.connection.connect(Some(supplier))?;
        self.pull_soon(self.due(Turn::First));
        Ok(())
    }

    /// Connects the supplier.
    ///
    /// # Errors
    /// As of [`resume`](Self::resume); the connection cannot be kept.
    pub(crate) fn connect(&self, supplier: PullSupplier) -> Result<(), Refusal> {
        self.resume(supplier)?;
        let interface = self.target.as_ref().map(PullTarget::interface);
        let interface = interface.map(|pulled| pulled.interface().record());
        let kept = self.base.keep(Kind::PullConsumer, interface);
        kept.inspect_err(|_| {
            let _ = self.finish(false);
        })
    }

    /// Checks that the proxy can be connected.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(crate) fn check_unconnected(&self) -> Result<(), Refusal> {
        Ok(self.base.connection.check_unconnected()?)
    }

    /// Asks the supplier for the object that a typed proxy pulls from, unless it is known. Blocks.
    ///
    /// # Errors
    /// It has none of the proxy's interface, or cannot be asked.
    pub(crate) fn ask(&self, supplier: &PullSupplier) -> Result<(), SystemException> {
        match &self.target {
            Some(target) => target.object(supplier).map(drop),
            None => Ok(()),
        }
    }

    /// Ends the connection at the supplier's request.
    ///
    /// # Errors
    /// It had ended.
    pub(crate) fn disconnect(&self) -> Result<(), Refusal> {
        let has_ended = self.finish(true);
        self.base.ended_by_peer(has_ended)
    }

    pub(crate) fn common(&self) -> &Arc<Common> {
        &self.base.common
    }

    fn pulling(&self) -> Pulling {
        self.base.common.limits.pulling
    }

    /// Hands the call of the supplier to another thread: it may have to wait for a connection.
    fn pull_soon(&self, due: Due) {
        let own = self.own.clone();
        let pull = move || {
            if let Some(own) = own.upgrade() {
                own.pull(due);
            }
        };
        self.base.common.workers.run(pull);
    }

    fn pull_after(&self, time: Duration, due: Due) {
        let own = self.own.clone();
        let pull = move || {
            if let Some(own) = own.upgrade() {
                own.pull_soon(due);
            }
        };
        self.base.common.timetable.after(time, pull);
    }

    fn pull(&self, due: Due) {
        let Some(supplier) = self.base.connection.peer() else {
            return;
        };
        match (&self.target, due.turn) {
            (None, _) => self.pull_any(&supplier, due),
            (Some(target), Turn::First) => self.begin(target, &supplier, due),
            (Some(target), _) => self.pull_typed(target, &supplier, due),
        }
    }

    /// Begins to pull by the operations of a typed supplier's object.
    fn begin(&self, target: &PullTarget, supplier: &PullSupplier, due: Due) {
        let asked = bounded(supplier, self.base.common.limits.call_timeout);
        if let Err(exception) = target.object(&asked) {
            return self.failed(due, &exception.in_context("`get_typed_supplier`"));
        }
        let at_once = match self.pulling() {
            Pulling::Try => target.operations().min(1),
            Pulling::Wait => target.operations(),
        };
        for operation in 0..at_once {
            let turn = Turn::of(operation);
            self.pull_typed(target, supplier, Due { turn, ..due });
        }
    }

    fn pull_typed(&self, target: &PullTarget, supplier: &PullSupplier, due: Due) {
        let Turn::Next { operation, .. } = due.turn else {
            return;
        };
        let own = self.own.clone();
        let pulled = move |pulled: TryPulled| {
            if let Some(own) = own.upgrade() {
                own.pulled(due, pulled);
            }
        };
        let sent = target
            .object(supplier)
            .and_then(|object| target.pull(object, operation, &self.end, pulled));
        if let Err(exception) = sent {
            self.failed(due, &exception);
        }
    }

    fn pull_any(&self, supplier: &PullSupplier, due: Due) {
        let own = self.own.clone();
        match self.pulling() {
            Pulling::Try => {
                let supplier = bounded(supplier, self.base.common.limits.call_timeout);
                supplier.sendc_try_pull(move |pulled: TryPulled| {
                    if let Some(own) = own.upgrade() {
                        own.pulled(due, pulled);
                    }
                });
            }
            Pulling::Wait => {
                let call = supplier.pull_async();
                let pulled = async move {
                    let pulled = of_pull(call.await);
                    if let Some(own) = own.upgrade() {
                        own.pulled(due, pulled);
                    }
                };
                let orb = supplier.as_object().orb();
                orb.spawn(self.end.until(0, pulled));
            }
        }
    }

    /// Passes an event on, and decides when to call again. Called by the thread that reads replies; does not block.
    fn pulled(&self, due: Due, pulled: TryPulled) {
        if !self.base.connection.is_connected() {
            return;
        }
        match pulled {
            Ok((event, true)) => {
                self.base.called(Existence::Exists);
                self.take(event, self.due(Turn::of(self.behind(due.turn))));
            }
            Ok((_, false)) => {
                self.base.called(Existence::Exists);
                self.found_nothing(due.turn);
            }
            Err(PullSupplierTryPullError::Disconnected(_)) => {
                self.finish(false);
            }
            Err(PullSupplierTryPullError::System(exception)) => {
                self.failed(due, &exception);
            }
        }
    }

    /// Returns a turn as it is due from now on.
    fn due(&self, turn: Turn) -> Due {
        Due {
            turn,
            // Relaxed: only the number matters.
            failures: self.failures.load(Ordering::Relaxed),
        }
    }

    /// Ends the connection, and gives up the calls that are open; returns whether this call did so.
    fn finish(&self, tells_peer: bool) -> bool {
        let has_ended = self.base.end(tells_peer);
        if has_ended {
            self.end.come();
        }
        has_ended
    }

    /// Returns the number of operations of the supplier.
    fn operations(&self) -> usize {
        self.target.as_ref().map_or(1, PullTarget::operations)
    }

    /// Returns the operation to call behind one.
    fn behind(&self, turn: Turn) -> usize {
        match (turn, self.pulling()) {
            (Turn::First, _) => 0,
            (Turn::Next { operation, .. }, Pulling::Try) => {
                (operation + 1) % self.operations().max(1)
            }
            // The others are open.
            (Turn::Next { operation, .. }, Pulling::Wait) => operation,
        }
    }

    /// Calls the next operation, or all of them again after the interval.
    fn found_nothing(&self, turn: Turn) {
        let operation = self.behind(turn);
        let without_event = match turn {
            Turn::First => 1,
            Turn::Next { without_event, .. } => without_event + 1,
        };
        match without_event < self.operations() {
            true => self.pull_soon(self.due(Turn::Next {
                operation,
                without_event,
            })),
            false => {
                let due = self.due(Turn::of(operation));
                self.pull_after(self.channel.pull_interval(), due);
            }
        }
    }

    /// Passes an event on, and pulls the next one: on another thread if the channel has a gate, which may block.
    fn take(&self, event: Any, next: Due) {
        match self.own.upgrade().filter(|_| self.channel.has_gate()) {
            Some(own) => self.base.common.workers.run(move || {
                own.publish(&event);
                own.pull(next);
            }),
            None => {
                self.publish(&event);
                self.pull_soon(next);
            }
        }
    }

    fn publish(&self, event: &Any) {
        if let Err(refusal) = self.channel.publish(event) {
            let refused = &self.base.common.metrics.refused;
            refused.add(1);
            // A supplier may have such events without end.
            let count = refused.get();
            if count.is_power_of_two() {
                tracing::warn!(
                    "{count} events that were pulled are not passed on so far, the last one: {refusal}"
                );
            }
        }
    }

    /// Notes that a call has failed, and has it made again after the interval, unless that ends the connection.
    fn failed(&self, Due { turn, failures }: Due, exception: &SystemException) {
        let existence = match is_gone(exception) {
            true => Existence::Gone,
            false => Existence::Unknown,
        };
        // Relaxed: only the number matters.
        let order = Ordering::Relaxed;
        let is_first = self
            .failures
            .compare_exchange(failures, failures.wrapping_add(1), order, order)
            .is_ok();
        let counts = is_first || existence == Existence::Gone;
        if !(counts && self.base.called(existence)) {
            let next = match turn {
                Turn::First => Turn::First,
                turn => Turn::of(self.behind(turn)),
            };
            return self.pull_after(self.channel.pull_interval(), self.due(next));
        }
        tracing::info!("a supplier is disconnected, as pulling from it has failed: {exception}");
        if self.finish(existence != Existence::Gone) {
            self.base.common.metrics.lost_peers.add(1);
        }
    }
}

/// Returns the outcome of `pull` as one of `try_pull`.
fn of_pull(pulled: Result<Any, PullSupplierPullError>) -> TryPulled {
    match pulled {
        Ok(event) => Ok((event, true)),
        Err(PullSupplierPullError::Disconnected(exception)) => Err(exception.into()),
        Err(PullSupplierPullError::System(exception)) => Err(exception.into()),
    }
}

impl Proxy for PullConsumerProxy {
    fn end(&self) {
        let _ = self.finish(true);
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PullConsumerServant for PullConsumerProxy {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        Ok(self.disconnect()?)
    }
}

impl ProxyPullConsumerServant for PullConsumerProxy {
    fn connect_pull_supplier(
        &self,
        pull_supplier: Option<&PullSupplier>,
    ) -> Result<(), ProxyPullConsumerConnectPullSupplierError> {
        let supplier = pull_supplier.cloned().ok_or(Refusal::Nil("supplier"));
        let connected = supplier.and_then(|supplier| self.connect(supplier));
        connected.map_err(|refusal| match refusal {
            Refusal::AlreadyConnected => AlreadyConnected.into(),
            other => SystemException::from(other).into(),
        })
    }
}
