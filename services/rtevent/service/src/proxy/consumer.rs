//! Proxies of the channel for suppliers (`ProxyPushConsumer`).

use super::objects::Proxies;
use crate::Data;
use crate::peer::{Lease, RemoteSupplier};
use crate::refusal::{Raised, Refusal};
use crate::rtec_event_channel_admin::ProxyPushConsumer;
use crate::rtec_event_comm::PushSupplier;
use crate::service::EventService;
use crate::wire::{Published, read_supplier};
use parking_lot::RwLock;
use punctual::stub::Servant;
use punctual::stub::{Answered, PeerConnection, ServerCall, Unmarshal};
use punctual::{Implements, Interface, ObjectId, SystemException};
use punctual_rtevent::{Publications, Selector, SupplierHandle};
use std::any::Any;
use std::sync::Arc;

/// Proxy of the channel for one supplier.
pub(crate) struct ProxyConsumer {
    service: EventService,
    id: ObjectId,
    connection: RwLock<Connection>,
}

#[derive(Clone)]
enum Connection {
    None,
    Connected(SupplierHandle<Data>, Arc<Lease>),
    Ended,
}

impl ProxyConsumer {
    /// Makes a proxy with the id of its object.
    pub(crate) fn new(service: EventService, id: ObjectId) -> Self {
        Self {
            service,
            id,
            connection: RwLock::new(Connection::None),
        }
    }

    fn proxies(&self) -> &Arc<Proxies> {
        self.service.proxies()
    }

    fn push(&self, call: &mut ServerCall<'_>) -> Answered {
        if let Err(refused) = self.take(call) {
            self.service.count_refused(&refused);
            return Err(refused.into());
        }
        call.reply(|_| Ok(()))
    }

    fn take(&self, call: &mut ServerCall<'_>) -> Result<(), SystemException> {
        self.service.check_access()?;
        let form = self.service.options().form;
        let mut events = self.service.received().read(form, call.arguments())?;
        form.stamp(&mut events);
        // Not under the lock: consumers that are called inside may end this connection.
        let connection = self.connection.read().clone();
        let Connection::Connected(supplier, lease) = connection else {
            return Err(Refusal::NotConnected.into());
        };
        lease.renew(|| call.peer_connection());
        Ok(supplier.push(&events).map_err(Refusal::from)?)
    }

    fn connect(&self, call: &mut ServerCall<'_>) -> Answered {
        let arguments = call.arguments();
        let reference = Option::<PushSupplier>::unmarshal(arguments)?;
        let qos = self.service.read(arguments, read_supplier)?;
        match self.connect_to(reference, qos, call.peer_connection()) {
            Ok(()) => call.reply(|_| Ok(())),
            Err(refusal) => match refusal.raised() {
                Some(Raised::AlreadyConnected(exception)) => call.raise(&exception),
                _ => Err(refusal.into()),
            },
        }
    }

    fn connect_to(
        &self,
        reference: Option<PushSupplier>,
        qos: Published,
        peer: PeerConnection,
    ) -> Result<(), Refusal> {
        self.service.check_access()?;
        let publications = publications(&qos);
        let options = self.service.options();
        let mut connection = self.connection.write();
        match &*connection {
            Connection::Connected(supplier, _) if options.can_reconnect => {
                return Ok(supplier.change(publications)?);
            }
            Connection::Connected(..) => return Err(Refusal::AlreadyConnected),
            Connection::Ended => return Err(Refusal::NotConnected),
            Connection::None => {}
        }
        let lease = Arc::new(Lease::new(peer, options.lease));
        let supplier = RemoteSupplier {
            reference,
            lease: lease.clone(),
            timeout: options.push_timeout,
            proxy: self.id.clone(),
            proxies: Arc::downgrade(self.proxies()),
        };
        let channel = self.service.channel();
        let supplier = channel.connect_supplier(publications, Arc::new(supplier))?;
        *connection = Connection::Connected(supplier, lease);
        self.proxies().connected(&self.id);
        Ok(())
    }

    fn disconnect(&self) -> Result<(), Refusal> {
        self.service.check_access()?;
        let before = std::mem::replace(&mut *self.connection.write(), Connection::Ended);
        if let Connection::Connected(supplier, _) = before {
            supplier.disconnect();
        }
        self.proxies().remove(&self.id);
        Ok(())
    }
}

/// Converts a supplier's published types and sources to the channel's form.
fn publications(qos: &Published) -> Publications {
    let headers = qos.headers.iter();
    let mut publications =
        Publications::new(headers.map(|header| Selector::new(header.kind, header.source)));
    publications.is_gateway = qos.is_gateway;
    publications
}

/// Skeleton of a proxy.
struct Skeleton(Arc<ProxyConsumer>);

impl Implements<Arc<ProxyConsumer>> for ProxyPushConsumer {
    fn servant(servant: Arc<ProxyConsumer>) -> Arc<dyn Servant> {
        Arc::new(Skeleton(servant))
    }
}

impl Servant for Skeleton {
    fn repository_ids(&self) -> &'static [&'static str] {
        ProxyPushConsumer::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        match call.operation() {
            "push" => self.0.push(call),
            "connect_push_supplier" => self.0.connect(call),
            "disconnect_push_consumer" => {
                self.0.disconnect()?;
                call.reply(|_| Ok(()))
            }
            _ => Err(call.bad_operation()),
        }
    }
}
