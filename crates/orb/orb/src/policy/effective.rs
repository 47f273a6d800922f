//! Policies in effect for the calls through one reference by one thread.

use super::managed::Managed;
use super::numbers;
use super::set::Contradiction;
use super::{
    Bidirectional, BufferTerms, CallsInFlight, CharCodeSet, ClientProtocols, Collocation, Defaults,
    EndTimes, Mux, Policy, PolicyLevels, PolicySet, PolicyType, Queued, Rebind, Security,
    SyncScope, Transfer, Wait, current, invalid,
};
use crate::exception::SystemException;
use punctual_giop::ResponseFlags;
use punctual_ior::PolicyValue;
use punctual_link::Properties;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Policies in effect for a call, combined from all levels.
#[derive(Debug, Default)]
pub(crate) struct Effective {
    /// Unique number that identifies the policies under which a binding was made.
    pub(crate) stamp: u64,
    validity: Validity,
    /// True if the policies are valid for threads in scheduling segments, false if for other
    /// threads.
    pub(crate) in_segment: bool,
    pub(crate) roundtrip: Option<Duration>,
    pub(crate) protocols: Option<ClientProtocols>,
    pub(crate) transfer: Transfer,
    pub(crate) mux: Mux,
    pub(crate) wait: Wait,
    pub(crate) collocation: Collocation,
    pub(crate) security: Security,
    pub(crate) char_code_set: CharCodeSet,
    pub(crate) ends: EndTimes,
    /// Time-out of a connection's set-up that replaces the configured one.
    pub(crate) connect: Option<Duration>,
    pub(crate) rebind: Rebind,
    /// SyncScope of one-ways; `None` if not set, in which case the configured buffering decides.
    pub(crate) sync_scope: Option<SyncScope>,
    /// Buffering terms of one-ways and asynchronous calls, if they are buffered.
    pub(crate) buffering: Option<BufferTerms>,
    /// Limit on the number of asynchronous calls in flight, if there is one.
    pub(crate) in_flight: Option<CallsInFlight>,
    /// True if the server may call back over the client's connection.
    pub(crate) bidirectional: bool,
    /// True if requests are sent ahead of those that are buffered.
    pub(crate) out_of_band: bool,
    /// Earliest delivery of requests and replies, and their priorities in queues.
    pub(crate) queued: Queued,
    properties: BTreeMap<Box<str>, Properties>,
    all: PolicySet,
    /// Contradiction because of which no call can be made, if there is one.
    conflict: Option<Conflict>,
}

/// Contradiction between policies of one type, with the exception that calls raise.
#[derive(Debug)]
struct Conflict {
    policies: Vec<Policy>,
    exception: SystemException,
}

/// Identification of the policies from which a value was computed: the epoch of the ORB's policies,
/// and the stamp of the thread's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Validity {
    epoch: u64,
    thread: u64,
}

static STAMPS: AtomicU64 = AtomicU64::new(1);

impl Effective {
    /// Returns whether the computed value is still valid for calls of the calling thread.
    #[inline]
    pub(crate) fn holds(&self, managed: &Managed) -> bool {
        self.validity.epoch == managed.epoch() && self.validity.thread == current::stamp(managed)
    }

    /// Returns whether the ORB's policies are unchanged since the value was computed, regardless of
    /// the thread's.
    pub(crate) fn is_of_now(&self, managed: &Managed) -> bool {
        self.validity.epoch == managed.epoch()
    }

    /// Computes the policies in effect for a reference that has policies of its own, and with the
    /// policies that it publishes.
    pub(crate) fn of(
        managed: &Managed,
        own: &PolicySet,
        published: impl FnOnce() -> Vec<PolicyValue>,
    ) -> Self {
        let reads = managed.types().reads_references();
        let published = if reads { published() } else { Vec::new() };
        let defaults = managed.defaults();
        let mut this = Self {
            stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
            validity: Validity {
                // Read before the policies are, so that a change in between leads to one more
                // computation.
                epoch: managed.epoch(),
                thread: current::stamp(managed),
            },
            in_segment: current::is_in_segment(),
            roundtrip: defaults.roundtrip,
            protocols: defaults.protocols.clone(),
            bidirectional: defaults.bidirectional == Bidirectional::Both,
            wait: defaults.wait,
            collocation: defaults.collocation,
            security: defaults.security,
            char_code_set: defaults.char_code_set,
            ..Self::default()
        };
        match together(managed, own, &published) {
            Ok(all) => this.all = all,
            // Calls then use requests, where they raise the conflict.
            Err(conflict) => {
                this.collocation = Collocation::None;
                this.conflict = Some(conflict);
            }
        }
        this.obey(defaults);
        this
    }

    /// Copies the values that calls need from the combined policies to the fields.
    fn obey(&mut self, defaults: &Defaults) {
        let mut terms = BufferTerms {
            capacity: defaults.buffer_capacity,
            ..BufferTerms::default()
        };
        let mut buffering = defaults.buffering;
        let mut properties: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for (link, of_link) in &defaults.properties {
            // One by one: collecting a map sorts, and each copy of the sort is large.
            let texts = properties.entry(link).or_default();
            for (name, value) in of_link {
                texts.insert(name, value);
            }
        }
        for policy in self.all.iter() {
            match policy {
                Policy::RelativeRoundtripTimeout(timeout) => self.roundtrip = Some(*timeout),
                Policy::RelativeRequestTimeout(within) => self.ends.request_within = Some(*within),
                Policy::RequestEndTime(end) => self.ends.request = Some(*end),
                Policy::ReplyEndTime(end) => self.ends.reply = Some(*end),
                Policy::ConnectTimeout(timeout) => self.connect = Some(*timeout),
                Policy::Rebind(rebind) => self.rebind = *rebind,
                Policy::SyncScope(scope) => self.sync_scope = Some(*scope),
                Policy::Buffering(chosen) => buffering = *chosen,
                Policy::BufferCapacity(capacity) => terms.capacity = *capacity,
                Policy::Bidirectional(both) => self.bidirectional = *both == Bidirectional::Both,
                Policy::OutOfBand(out_of_band) => self.out_of_band = *out_of_band,
                Policy::QueueOrder(order) => {
                    terms.order = order.chosen();
                    let is_told = !terms.has_arrival_order();
                    self.queued.order = is_told.then_some(*order);
                }
                Policy::RequestPriority(range) => self.queued.request_priority = Some(*range),
                Policy::ReplyPriority(range) => self.queued.reply_priority = Some(*range),
                Policy::RequestStartTime(start) => self.queued.request_start = Some(*start),
                Policy::ReplyStartTime(start) => self.queued.reply_start = Some(*start),
                Policy::ClientProtocols(protocols) => self.protocols = Some(protocols.clone()),
                Policy::Transfer(transfer) => self.transfer = *transfer,
                Policy::Mux(mux) => self.mux = *mux,
                Policy::Wait(wait) => self.wait = *wait,
                Policy::Collocation(collocation) => self.collocation = *collocation,
                Policy::Security(security) => self.security = *security,
                Policy::CharCodeSet(code_set) => self.char_code_set = *code_set,
                Policy::CallsInFlight(calls) => self.in_flight = Some(calls.clone()),
                Policy::LinkProperty(property) => {
                    properties.entry(&property.link).or_default();
                    let all = properties.iter_mut();
                    let all = all.filter(|(link, _)| bare_link(link) == &*property.link);
                    for (_, of_link) in all {
                        of_link.insert(&property.name, &property.value);
                    }
                }
                // Read by the code that has added its type.
                Policy::Defined(_) => {}
            }
        }
        let is_reliable = |scope| scope != SyncScope::None;
        if self.out_of_band || self.sync_scope.is_some_and(is_reliable) {
            buffering = None;
        }
        terms.priority = self.queued.request_priority.unwrap_or_default().max;
        self.buffering = buffering.map(|when| BufferTerms { when, ..terms });
        let unordered = Queued {
            order: None,
            ..self.queued
        };
        if self.ends.are_any() || unordered.is_any() {
            // Times are obeyed by requests. A queue order alone does not matter to a call that is
            // not queued.
            self.collocation = Collocation::None;
        }
        self.properties = BTreeMap::new();
        // Empty tables are those of policies whose link is none by itself: no connection has them.
        let properties = properties.into_iter();
        for (link, of_link) in properties.filter(|(_, of_link)| !of_link.is_empty()) {
            let of_link = of_link.into_iter().collect();
            self.properties.insert(link.into(), of_link);
        }
    }

    /// Returns whether requests carry end times or queueing policies, which are computed for each
    /// call.
    pub(crate) fn needs_a_request(&self) -> bool {
        self.ends.are_any() || self.queued.is_any()
    }

    /// Returns the properties for connections of this link; for an adapted link without a table of its own, those of the
    /// link below the adapters.
    pub(crate) fn properties(&self, link: &str) -> Properties {
        if self.properties.is_empty() {
            return Properties::NONE;
        }
        let of_link = self.properties.get(link);
        let of_link = of_link.or_else(|| self.properties.get(bare_link(link)));
        of_link.cloned().unwrap_or_default()
    }

    /// Returns the kind of response that one-ways ask for, if any (CORBA 3.3 part 2, §9.4.2.2).
    #[inline]
    pub(crate) fn answer_to_one_ways(&self) -> Option<ResponseFlags> {
        match self.sync_scope? {
            SyncScope::None | SyncScope::WithTransport => None,
            SyncScope::WithServer => Some(ResponseFlags::SYNC_WITH_SERVER),
            SyncScope::WithTarget => Some(ResponseFlags::SYNC_WITH_TARGET),
        }
    }

    /// Checks that calls can be made.
    ///
    /// # Errors
    /// INV_POLICY if policies contradict each other.
    pub(crate) fn check(&self) -> Result<(), SystemException> {
        match &self.conflict {
            None => Ok(()),
            Some(conflict) => Err(conflict.exception.clone()),
        }
    }

    /// Returns the policies that contradict each other, if any do.
    pub(crate) fn contradicting(&self) -> Option<&[Policy]> {
        self.conflict.as_ref().map(|conflict| &*conflict.policies)
    }

    /// Returns the policies of these types, including the ORB's configured ones.
    pub(crate) fn of_types(&self, types: &[u32]) -> Vec<Policy> {
        let of_type = |number: &u32| {
            let set = self.all.of_types(&[*number]);
            match (*number, &self.protocols) {
                _ if !set.is_empty() => set,
                (numbers::CLIENT_PROTOCOLS, Some(protocols)) => {
                    vec![Policy::ClientProtocols(protocols.clone())]
                }
                (numbers::SECURITY, _) => vec![Policy::Security(self.security)],
                _ => set,
            }
        };
        types.iter().flat_map(of_type).collect()
    }

    /// Returns the policies in effect of the given types.
    pub(crate) fn policies(&self, types: &[u32]) -> Vec<Policy> {
        self.all.of_types(types)
    }

    /// Returns the value in effect of a policy type that was added to the ORB.
    pub(crate) fn value<P: PolicyType>(&self) -> Option<&P> {
        self.all.value()
    }
}

/// Combines the policies of all levels and the published ones.
fn together(
    managed: &Managed,
    own: &PolicySet,
    published: &[PolicyValue],
) -> Result<PolicySet, Conflict> {
    let types = managed.types();
    let (managed_set, of_thread) = (managed.set(), current::set(managed));
    let mut all = PolicySet::default();
    // From the outermost to the innermost.
    let of_orb = managed_set
        .iter()
        .filter(|one| types.are_for(PolicyLevels::ORB, one));
    for policy in of_orb.chain(of_thread.iter()).chain(own.iter()) {
        all.merge(policy, types)?;
    }
    let defaults = managed.defaults();
    let of_own = |one: &Policy| matches!(one, Policy::ClientProtocols(_));
    let own_protocols = all.iter().any(of_own);
    for value in published {
        // Values of unknown types are ignored.
        let Some(codec) = types.get(value.kind).and_then(|one| one.codec) else {
            continue;
        };
        // The client's own takes precedence, and with its protocols their properties.
        let is_protocols = value.kind == numbers::CLIENT_PROTOCOLS;
        if is_protocols && (defaults.protocols.is_some() || own_protocols) {
            continue;
        }
        let read = (codec.read)(&value.data).map_err(|error| {
            let kind = value.kind;
            Conflict {
                // The value at fault did not decode, so the client's values are reported.
                policies: all.of_types(&[kind]),
                exception: invalid(format!(
                    "the policy of type {kind} that the reference publishes does not decode: {error}"
                )),
            }
        })?;
        for policy in read {
            if !defaults.have_property_of(&policy) {
                all.reconcile(policy, types)?;
            }
        }
    }
    Ok(all)
}

impl From<Contradiction> for Conflict {
    fn from(contradiction: Contradiction) -> Self {
        let Contradiction { policies, why } = contradiction;
        let number = policies.first().map_or(0, Policy::policy_type);
        let why = format!("the policies of type {number} contradict each other: {why}");
        Self {
            policies,
            exception: invalid(why),
        }
    }
}

/// Returns the name of a link without those of adapters over it.
fn bare_link(link: &str) -> &str {
    link.rsplit('+').next().unwrap_or(link)
}
