//! Adapters of the channel's objects: those of administration, and those to which events are pushed.

use punctual::poa::PoaPolicy;
use punctual::rt::{PoolThreads, PriorityModelPolicy, RtOrb, ThreadpoolOptions, ThreadpoolPolicy};
use punctual::{Orb, SystemException};

/// Policies of the adapters of a channel's objects, beside those that it has anyway. Subscriptions can thus be served at
/// another priority than events (O'Ryan et al. 2001, §6.2). Default: none, so that the ORB's threads serve all.
#[derive(Clone, Debug, Default)]
pub struct AdapterPolicies {
    /// Policies of the channel's object, of its factories, and of the proxies of consumers.
    pub administration: Vec<PoaPolicy>,
    /// Policies of the proxies of suppliers, to which events are pushed.
    pub events: Vec<PoaPolicy>,
}

impl AdapterPolicies {
    /// Creates a thread pool with a lane for administration and another for events, each at its priority, and returns
    /// the policies that use it. The pool listens at endpoints of its own, as `options` say; their addresses are in the
    /// references. The channel's object then has no address of the ORB, and no `corbaloc` reference with one.
    ///
    /// # Errors
    /// Those of [`RtOrb::create_threadpool_with_lanes`].
    pub fn in_lanes(
        rt: &RtOrb,
        orb: &Orb,
        administration: PoolThreads,
        events: PoolThreads,
        options: &ThreadpoolOptions,
    ) -> Result<Self, SystemException> {
        let priorities = [administration.priority, events.priority];
        let pool = rt.create_threadpool_with_lanes(orb, &[administration, events], options)?;
        let [administration, events] = priorities.map(|priority| {
            let model = PriorityModelPolicy::server_declared(priority);
            vec![PoaPolicy::of(model), PoaPolicy::of(ThreadpoolPolicy(pool))]
        });
        Ok(Self {
            administration,
            events,
        })
    }
}
