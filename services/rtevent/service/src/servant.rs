//! The channel's object, and its factories of proxies.

use crate::adapters::AdapterPolicies;
use crate::federation::{Addresses, Federation};
use crate::proxy::{ProxyConsumer, ProxyOf, ProxySupplier};
use crate::punctual_events::{Channel, ChannelCounts, ChannelServant};
use crate::refusal::Refusal;
use crate::rtec_event_channel_admin::{
    ConsumerAdmin, ConsumerAdminServant, EventChannel, EventChannelAppendObserverError,
    EventChannelRemoveObserverError, EventChannelServant, Observer, ObserverHandle,
    ProxyPushConsumer, ProxyPushSupplier, SupplierAdmin, SupplierAdminServant,
    event_channel::CantRemoveObserver,
};
use crate::rtec_udp_admin::AddrServer;
use crate::service::EventService;
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{ObjectId, Poa, SystemException};
use punctual_host::ServeError;
use std::sync::Arc;

impl EventService {
    /// Serves the channel by an adapter below `parent`, which requests reach through its manager. If the ORB's
    /// endpoints stay the same, so does the reference; proxies end with the process.
    ///
    /// # Errors
    /// The adapters cannot be made: their names are taken. The scheduler of the options cannot be asked.
    pub fn serve(&self, parent: &Poa) -> Result<EventChannel, ServeError> {
        self.serve_by(parent, &AdapterPolicies::default())
    }

    /// Serves the channel as [`EventService::serve`] does, by adapters with further policies, such as priorities.
    ///
    /// # Errors
    /// The adapters cannot be made: their names are taken, or a policy is refused. The scheduler of the options cannot be
    /// asked.
    pub fn serve_by(
        &self,
        parent: &Poa,
        adapters: &AdapterPolicies,
    ) -> Result<EventChannel, ServeError> {
        if let Some(scheduler) = &self.options().scheduler {
            let connected = scheduler.connect(parent.orb());
            connected.map_err(ServeError::of::<Self>)?;
        }
        let mut policies = vec![
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        ];
        policies.extend_from_slice(&adapters.administration);
        let poa = parent.create_poa("EventService", Some(parent.manager()), &policies);
        let poa = poa.map_err(ServeError::of::<Self>)?;
        self.proxies()
            .serve(&poa, adapters)
            .map_err(ServeError::of::<Self>)?;
        let of = |error| ServeError::of::<Self>(error);
        let id = |name: &str| ObjectId::from(name.as_bytes());
        let consumers: ConsumerAdmin = poa
            .activate_with_id(&id("ConsumerAdmin"), Admin(self.clone()))
            .map_err(of)?;
        let suppliers: SupplierAdmin = poa
            .activate_with_id(&id("SupplierAdmin"), Admin(self.clone()))
            .map_err(of)?;
        let channel = ChannelObject {
            service: self.clone(),
            consumers,
            suppliers,
        };
        let _: Channel = poa
            .activate_with_id(&id("EventChannel"), channel)
            .map_err(of)?;
        let addresses: AddrServer = poa
            .activate_with_id(&id("AddrServer"), Addresses::new(self.clone()))
            .map_err(of)?;
        self.keep_address_server(addresses);
        self.federate(parent)?;
        // Its reference names TAO's interface, as peers may not ask whether an object has another one.
        poa.create_reference_with_id(&id("EventChannel"))
            .map_err(of)
    }

    /// Starts the links to other channels, whose objects have an adapter of their own.
    fn federate(&self, parent: &Poa) -> Result<(), ServeError> {
        let options = self.options();
        let poa = parent.create_poa("EventLinks", Some(parent.manager()), &[]);
        let poa = poa.map_err(ServeError::of::<Self>)?;
        let federation = Federation::start(self.channel(), options, &poa);
        self.keep(federation.map_err(ServeError::of::<Self>)?);
        Ok(())
    }
}

/// Factories of proxies.
struct Admin(EventService);

impl ConsumerAdminServant for Admin {
    fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplier>, SystemException> {
        self.0.check_access()?;
        let make = |id| Arc::new(ProxySupplier::new(self.0.clone(), id));
        Ok(Some(self.0.proxies().add(
            ProxyOf::Consumer,
            make,
            self.0.options().unconnected,
        )?))
    }
}

impl SupplierAdminServant for Admin {
    fn obtain_push_consumer(&self) -> Result<Option<ProxyPushConsumer>, SystemException> {
        self.0.check_access()?;
        let make = |id| Arc::new(ProxyConsumer::new(self.0.clone(), id));
        Ok(Some(self.0.proxies().add(
            ProxyOf::Supplier,
            make,
            self.0.options().unconnected,
        )?))
    }
}

/// The channel's object.
struct ChannelObject {
    service: EventService,
    consumers: ConsumerAdmin,
    suppliers: SupplierAdmin,
}

impl EventChannelServant for ChannelObject {
    fn for_consumers(&self) -> Result<Option<ConsumerAdmin>, SystemException> {
        Ok(Some(self.consumers.clone()))
    }

    fn for_suppliers(&self) -> Result<Option<SupplierAdmin>, SystemException> {
        Ok(Some(self.suppliers.clone()))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        self.service.check_access()?;
        if !self.service.options().can_destroy {
            return Err(Refusal::NotDestroyed.into());
        }
        self.service.channel().destroy();
        Ok(())
    }

    fn append_observer(
        &self,
        gw: Option<&Observer>,
    ) -> Result<ObserverHandle, EventChannelAppendObserverError> {
        self.service.check_access().map_err(SystemException::from)?;
        let observer = gw.ok_or(Refusal::Nil).map_err(SystemException::from)?;
        Ok(self
            .service
            .observe(observer)
            .map_err(SystemException::from)?)
    }

    fn remove_observer(&self, gw: ObserverHandle) -> Result<(), EventChannelRemoveObserverError> {
        self.service.check_access().map_err(SystemException::from)?;
        match self.service.forget(gw) {
            true => Ok(()),
            false => Err(CantRemoveObserver.into()),
        }
    }
}

impl ChannelServant for ChannelObject {
    fn counts(&self, most_consumers: u32) -> Result<ChannelCounts, SystemException> {
        self.service.check_access()?;
        Ok(self.service.counts(most_consumers as usize))
    }
}
