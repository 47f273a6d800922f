//! Events of a channel, published: a consumer that sequences of events are pushed to.

use super::carried::Carried;
use super::servers::on_nats;
use crate::call::Problem;
use crate::notify::channel::failed;
use crate::notify::pull::filter_of;
use crate::shown;
use parking_lot::Mutex;
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{Interface, NotNil, ObjectId, Orb, RootPoa, SystemException, SystemExceptionKind};
use punctual_durable::DurableError;
use punctual_jetstream::Bridge;
use punctual_notification::cos_notification::{EventType, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, ConsumerAdminGetProxySupplierError, EventChannel, ProxyId,
    ProxySupplier, SequenceProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{
    NotifyPublishOfferChangeError, NotifyPublishServant, SequencePushConsumer,
    SequencePushConsumerPushStructuredEventsError, SequencePushConsumerServant,
};
use punctual_notification::cos_notify_filter::Filter;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Connection by which a channel pushes events to this program.
#[derive(Debug)]
pub(super) struct Outward {
    proxy: SequenceProxyPushSupplier,
    filter: Option<Filter>,
    is_kept: bool,
    has_ended: Arc<AtomicBool>,
}

const ON_KEPT: &str = "--keep takes a file that this command has written, or the name of one that is not there yet; with it, name a port by -ORBListenEndpoints";

impl Outward {
    /// Connects a consumer that publishes by `nats`, with `prefix` before the subjects. `keep` is the file with the id of the proxy.
    pub(super) fn connect(
        (orb, channel): (&Orb, &EventChannel),
        (nats, prefix, carried): (Bridge, &str, Carried),
        (filter, keep): (Option<&str>, Option<&Path>),
    ) -> Result<Self, Problem> {
        let has_ended = Arc::<AtomicBool>::default();
        let consumer = Consumer {
            nats: Mutex::new(nats),
            prefix: prefix.to_owned(),
            carried,
            refused: AtomicU64::new(0),
            has_ended: has_ended.clone(),
        };
        Bridge::check(prefix).map_err(on_nats)?;
        let consumer = served(orb, consumer).map_err(failed)?;
        let admin = channel.default_consumer_admin().map_err(failed)?;
        let admin = admin.not_nil().map_err(failed)?;
        if let Some(proxy) = keep.map(|file| left(&admin, file)).transpose()?.flatten() {
            return Ok(Self {
                proxy,
                filter: None,
                is_kept: true,
                has_ended,
            });
        }
        let filter = filter.map(|text| filter_of(channel, text)).transpose()?;
        let obtained = admin.obtain_notification_push_supplier(ClientType::SequenceEvent);
        let (proxy, id) = obtained.map_err(failed)?;
        let proxy = narrowed(proxy)?;
        if filter.is_some() {
            proxy.add_filter(filter.as_ref()).map_err(failed)?;
        }
        proxy
            .connect_sequence_push_consumer(Some(&consumer))
            .map_err(failed)?;
        if let Some(file) = keep {
            std::fs::write(file, format!("{id}\n")).map_err(|error| on_file(file, &error))?;
        }
        Ok(Self {
            proxy,
            filter,
            is_kept: keep.is_some(),
            has_ended,
        })
    }

    /// Returns whether the channel has ended the connection.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Ends the connection, unless it is kept or has ended.
    pub(super) fn end(self) -> Result<(), Problem> {
        if self.has_ended() {
            return Err(Problem::usage(
                "the channel has ended the connection",
                super::super::channel::ON_FACTORIES,
            ));
        }
        if self.is_kept {
            return Ok(());
        }
        self.proxy
            .disconnect_sequence_push_supplier()
            .map_err(failed)?;
        self.filter
            .map_or(Ok(()), |filter| filter.destroy().map_err(failed))
    }
}

fn narrowed(proxy: Option<ProxySupplier>) -> Result<SequenceProxyPushSupplier, Problem> {
    let proxy = proxy.not_nil().map_err(failed)?;
    SequenceProxyPushSupplier::narrow(proxy.as_object().clone()).map_err(failed)
}

/// Returns the proxy whose id a file has, if the channel still has it.
fn left(admin: &ConsumerAdmin, file: &Path) -> Result<Option<SequenceProxyPushSupplier>, Problem> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(on_file(file, &error)),
    };
    let id: ProxyId = text.trim().parse().map_err(|error| on_file(file, &error))?;
    match admin.get_proxy_supplier(id) {
        Ok(proxy) => narrowed(proxy).map(Some),
        Err(ConsumerAdminGetProxySupplierError::ProxyNotFound(_)) => {
            eprintln!("the channel has no proxy {id} any more: events were lost meanwhile");
            Ok(None)
        }
        Err(error) => Err(failed(error)),
    }
}

fn on_file(file: &Path, error: &dyn std::fmt::Display) -> Problem {
    Problem::usage(format!("{}: {error}", file.display()), ON_KEPT)
}

/// Serves the consumer by a reference that is the same when this program is started again at the same port.
fn served(orb: &Orb, consumer: Consumer) -> Result<SequencePushConsumer, SystemException> {
    let root = orb.root_poa()?;
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    let poa = root.create_poa("Bridge", Some(root.manager()), &policies);
    let poa = poa.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
    let id = ObjectId::from(&b"consumer"[..]);
    let consumer = poa.activate_with_id(&id, consumer);
    let consumer =
        consumer.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
    root.manager().activate()?;
    Ok(consumer)
}

/// Consumer of a channel's events.
struct Consumer {
    /// Messages are published in the order of the pushes.
    nats: Mutex<Bridge>,
    prefix: String,
    carried: Carried,
    /// Number of events that no message can carry.
    refused: AtomicU64,
    has_ended: Arc<AtomicBool>,
}

impl Consumer {
    /// Publishes events. Those that no message can carry are counted, and left out.
    ///
    /// # Errors
    /// The servers are away.
    fn publish(&self, events: &[StructuredEvent]) -> Result<(), DurableError> {
        let mut messages = Vec::with_capacity(events.len());
        for event in events {
            match self.carried.message(&self.prefix, event) {
                Ok(message) => messages.extend(message),
                Err(error) => self.refuse(&error),
            }
        }
        let nats = self.nats.lock();
        match nats.publish_all(messages.clone()) {
            Err(DurableError::Invalid(_)) => {}
            other => return other,
        }
        // One of them is too long, or its subject is. Those before it may be published twice.
        for message in messages {
            match nats.publish(message) {
                Err(DurableError::Invalid(error)) => self.refuse(&error),
                other => other?,
            }
        }
        Ok(())
    }

    fn refuse(&self, error: &str) {
        let number = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_power_of_two() {
            let error = shown::peer(error);
            eprintln!(
                "{number} events have not been published, as no message can carry them: {error}"
            );
        }
    }
}

impl NotifyPublishServant for Consumer {
    fn offer_change(
        &self,
        _added: &[EventType],
        _removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl SequencePushConsumerServant for Consumer {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), SequencePushConsumerPushStructuredEventsError> {
        punctual::about_to_block();
        // The channel pushes them again.
        let published = self.publish(notifications);
        Ok(published.map_err(|error| SystemExceptionKind::Transient.because(error.to_string()))?)
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        self.has_ended.store(true, Ordering::Relaxed);
        Ok(())
    }
}
