//! Proxies of the channel for consumers (`ProxyPushSupplier`).

use super::objects::Proxies;
use crate::Data;
use crate::peer::RemoteConsumer;
use crate::refusal::{Raised, Refusal};
use crate::rtec_event_channel_admin::ProxyPushSupplier;
use crate::rtec_event_comm::PushConsumer;
use crate::service::EventService;
use crate::wire::{Subscribed, read_consumer};
use parking_lot::Mutex;
use punctual::SetOverride;
use punctual::stub::Servant;
use punctual::stub::{Answered, ServerCall, Unmarshal};
use punctual::{Implements, Interface, ObjectId, Policy};
use punctual_rtevent::{ConnectError, ConsumerHandle};
use std::any::Any;
use std::sync::Arc;

/// Proxy of the channel for one consumer.
pub(crate) struct ProxySupplier {
    service: EventService,
    id: ObjectId,
    connection: Mutex<Connection>,
}

enum Connection {
    None,
    Connected {
        handle: ConsumerHandle<Data>,
        consumer: Arc<RemoteConsumer>,
    },
    Ended,
}

impl ProxySupplier {
    /// Makes a proxy with the id of its object.
    pub(crate) fn new(service: EventService, id: ObjectId) -> Self {
        Self {
            service,
            id,
            connection: Mutex::new(Connection::None),
        }
    }

    fn proxies(&self) -> &Arc<Proxies> {
        self.service.proxies()
    }

    fn connect(&self, call: &mut ServerCall<'_>) -> Answered {
        let arguments = call.arguments();
        let reference = Option::<PushConsumer>::unmarshal(arguments)?;
        let qos = self.service.read(arguments, read_consumer)?;
        match self.connect_to(reference, &qos) {
            Ok(()) => call.reply(|_| Ok(())),
            Err(refusal) => match refusal.raised() {
                Some(Raised::AlreadyConnected(exception)) => call.raise(&exception),
                Some(Raised::Type(exception)) => {
                    tracing::warn!("a consumer's subscription is refused: {refusal}");
                    call.raise(&exception)
                }
                None => Err(refusal.into()),
            },
        }
    }

    fn connect_to(&self, reference: Option<PushConsumer>, qos: &Subscribed) -> Result<(), Refusal> {
        self.service.check_access()?;
        let reference = self.pushed(&reference.ok_or(Refusal::Nil)?)?;
        let mut connection = self.connection.lock();
        let can_reconnect = self.service.options().can_reconnect;
        match &*connection {
            Connection::Connected { handle, consumer } if can_reconnect => {
                handle.change(self.service.subscription(qos)?)?;
                self.service.note_peer(handle, reference.as_object());
                consumer.replace(reference);
                return Ok(());
            }
            Connection::Connected { .. } => return Err(Refusal::AlreadyConnected),
            Connection::Ended => return Err(Refusal::NotConnected),
            Connection::None => {}
        }
        let subscription = self.service.subscription(qos)?;
        let object = reference.as_object().clone();
        let consumer = Arc::new(self.consumer(reference));
        let channel = self.service.channel();
        let handle = channel.connect_consumer(subscription, consumer.clone())?;
        self.service.note_peer(&handle, &object);
        *connection = Connection::Connected { handle, consumer };
        self.proxies().connected(&self.id);
        Ok(())
    }

    fn consumer(&self, reference: PushConsumer) -> RemoteConsumer {
        let options = self.service.options();
        let proxies = Arc::downgrade(self.proxies());
        RemoteConsumer::new(
            reference,
            options.form,
            options.push_timeout,
            self.id.clone(),
            proxies,
        )
    }

    /// Returns a consumer's reference with the policies of pushes.
    fn pushed(&self, reference: &PushConsumer) -> Result<PushConsumer, Refusal> {
        let options = self.service.options();
        let policies = [Policy::SyncScope(options.push)];
        let object = reference
            .as_object()
            .set_policy_overrides(&policies, SetOverride::Add)
            .map_err(|exception| Refusal::Inactive(exception.to_string()))?;
        Ok(PushConsumer::from_object(
            object.with_timeout(options.push_timeout),
        ))
    }

    fn disconnect(&self) -> Result<(), Refusal> {
        self.service.check_access()?;
        let before = std::mem::replace(&mut *self.connection.lock(), Connection::Ended);
        if let Connection::Connected { handle, .. } = before {
            handle.disconnect();
        }
        self.proxies().remove(&self.id);
        Ok(())
    }

    /// Calls the closure with the consumer's connection.
    fn connected(
        &self,
        change: fn(&ConsumerHandle<Data>) -> Result<(), ConnectError>,
    ) -> Result<(), Refusal> {
        self.service.check_access()?;
        match &*self.connection.lock() {
            Connection::Connected { handle, .. } => Ok(change(handle)?),
            Connection::None | Connection::Ended => Err(Refusal::NotConnected),
        }
    }
}

/// Skeleton of a proxy.
struct Skeleton(Arc<ProxySupplier>);

impl Implements<Arc<ProxySupplier>> for ProxyPushSupplier {
    fn servant(servant: Arc<ProxySupplier>) -> Arc<dyn Servant> {
        Arc::new(Skeleton(servant))
    }
}

impl Servant for Skeleton {
    fn repository_ids(&self) -> &'static [&'static str] {
        ProxyPushSupplier::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        match call.operation() {
            "connect_push_consumer" => return self.0.connect(call),
            "suspend_connection" => self.0.connected(ConsumerHandle::suspend)?,
            "resume_connection" => self.0.connected(ConsumerHandle::resume)?,
            "disconnect_push_supplier" => self.0.disconnect()?,
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }
}
