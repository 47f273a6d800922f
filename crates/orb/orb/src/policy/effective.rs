//! What holds for the calls through one reference by one thread.

use super::{
    ClientProtocols, Collocation, Mux, Otherwise, Policy, PolicySet, Transfer, Wait, current,
};
use crate::broker::Broker;
use crate::policy::Buffering;
use punctual_link::Properties;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The policies of all levels, put together.
#[derive(Debug, Default)]
pub(crate) struct Effective {
    /// No other has it: tells which policies a binding was made under.
    pub(crate) stamp: u64,
    /// The epoch of the ORB's policies, and whose thread's, it was computed under.
    epoch: u64,
    thread: u64,
    pub(crate) roundtrip: Option<Duration>,
    pub(crate) protocols: Option<ClientProtocols>,
    pub(crate) transfer: Transfer,
    pub(crate) mux: Mux,
    pub(crate) wait: Wait,
    pub(crate) collocation: Collocation,
    pub(crate) buffering: Option<Buffering>,
    properties: BTreeMap<Box<str>, Properties>,
    all: PolicySet,
}

static STAMPS: AtomicU64 = AtomicU64::new(1);

impl Effective {
    /// Whether it still holds, for the calling thread.
    #[inline]
    pub(crate) fn holds(&self, broker: &Broker) -> bool {
        self.epoch == broker.policies.epoch() && self.thread == current::stamp(broker)
    }

    /// Whether the ORB's policies are still those that it was computed under, whatever the thread's.
    pub(crate) fn is_of_now(&self, broker: &Broker) -> bool {
        self.epoch == broker.policies.epoch()
    }

    /// What holds now for a reference with policies of its own.
    pub(crate) fn of(broker: &Broker, own: &PolicySet) -> Self {
        let config = broker.config();
        let mut this = Self {
            stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
            // Read before the policies are: a change meanwhile makes it renewed once more.
            epoch: broker.policies.epoch(),
            thread: current::stamp(broker),
            roundtrip: config.timeouts.call,
            buffering: config.one_way_buffering,
            wait: config.wait,
            collocation: config.collocation,
            ..Self::default()
        };
        if !config.client_protocols.is_empty() {
            this.protocols = Some(ClientProtocols {
                preferred: config.client_protocols.clone(),
                otherwise: Otherwise::Raise,
            });
        }
        let mut properties: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for (link, configured) in &config.link_properties {
            let texts = configured.iter().map(|(name, value)| (&**name, &**value));
            properties.insert(link, texts.collect());
        }
        // The innermost comes last, and so holds.
        let (managed, threads) = (broker.policies.set(), current::set(broker));
        let mut all: Vec<Policy> = Vec::new();
        for policy in managed.iter().chain(threads.iter()).chain(own.iter()) {
            all.retain(|outer| outer.matter() != policy.matter());
            all.push(policy.clone());
        }
        for policy in &all {
            match policy {
                Policy::RelativeRoundtripTimeout(timeout) => this.roundtrip = Some(*timeout),
                Policy::ClientProtocols(protocols) => this.protocols = Some(protocols.clone()),
                Policy::Transfer(transfer) => this.transfer = *transfer,
                Policy::Mux(mux) => this.mux = *mux,
                Policy::Wait(wait) => this.wait = *wait,
                Policy::Collocation(collocation) => this.collocation = *collocation,
                Policy::LinkProperty(property) => {
                    let of_link = properties.entry(&property.link).or_default();
                    of_link.insert(&property.name, &property.value);
                }
            }
        }
        this.properties = properties
            .into_iter()
            .map(|(link, of_link)| (link.into(), of_link.into_iter().collect()))
            .collect();
        this.all = PolicySet::of(all);
        this
    }

    /// The properties for connections of this link; an adapted one counts as the link below.
    pub(crate) fn properties(&self, link: &str) -> Properties {
        if self.properties.is_empty() {
            return Properties::NONE;
        }
        let bare = link.rsplit('+').next().unwrap_or(link);
        self.properties.get(bare).cloned().unwrap_or_default()
    }

    /// All that hold, of the given types.
    pub(crate) fn policies(&self, types: &[u32]) -> Vec<Policy> {
        self.all.of_types(types)
    }
}
