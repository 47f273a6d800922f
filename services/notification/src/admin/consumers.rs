//! `ConsumerAdmin`: the proxies of consumers.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::asynchronous::Amh;
use punctual::{Implements, Interface, SystemException};

use crate::administered::{filter_servant, quality_servant};
use crate::client::{Form, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, ClientType, ConsumerAdminGetProxySupplierError,
    ConsumerAdminObtainNotificationPullSupplierError,
    ConsumerAdminObtainNotificationPushSupplierError, ConsumerAdminServant,
    InterFilterGroupOperator as Operator, ProxyId, ProxyNotFound, ProxySupplier,
};
use crate::cos_notify_comm::{
    InvalidEventType, NotifySubscribeServant, NotifySubscribeSubscriptionChangeError,
};
use crate::cos_notify_filter::MappingFilter;
use crate::filter::{Attached, reference};
use crate::group::{DEFAULT, Group};
use crate::hub::{Hub, Owner};
use crate::limited::Limited;
use crate::outlet::Outlet;
use crate::proxy::form_of;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::types::BadTypes;

/// Administrator of consumers.
pub(crate) struct ConsumerAdmin {
    pub(crate) base: Arc<Group>,
    outlets: Mutex<BTreeMap<ProxyId, Obtained>>,
    own: Weak<Self>,
}

/// Proxy with its reference; those of the Event Service's interfaces have none of the Notification Service's.
struct Obtained {
    outlet: Arc<Outlet>,
    reference: Option<ProxySupplier>,
}

impl ConsumerAdmin {
    pub(crate) fn new(hub: Arc<dyn Hub>, id: AdminId, operator: Operator) -> Arc<Self> {
        let base = Arc::new(Group::new(hub, id, operator));
        Arc::new_cyclic(|own| Self {
            base,
            outlets: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Adds the administrator's object.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn serve(self: &Arc<Self>) -> Result<admin::ConsumerAdmin, Refusal> {
        let servant = <admin::ConsumerAdmin as Implements<_>>::servant(self.clone());
        let objects = &self.base.common().objects;
        Ok(objects.add(&self.base.object_id(), servant)?)
    }

    /// Returns the reference to the administrator.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn reference(&self) -> Result<admin::ConsumerAdmin, Refusal> {
        let objects = &self.base.common().objects;
        Ok(objects.reference(&self.base.object_id())?)
    }

    /// Returns all proxies at present.
    pub(crate) fn outlets(&self) -> Vec<Arc<Outlet>> {
        let outlets = self.outlets.lock();
        outlets.values().map(|one| one.outlet.clone()).collect()
    }

    /// Ends all connections, and removes the administrator's object.
    pub(crate) fn end(&self) {
        self.base.end();
        for outlet in self.outlets() {
            outlet.finish(true);
        }
    }

    /// Makes a proxy, which is served as `serve` says.
    ///
    /// # Errors
    /// There are as many consumers as may be; the channel has been destroyed.
    fn obtain<R>(
        &self,
        (form, style): (Form, Style),
        serve: impl FnOnce(&Arc<Outlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxySupplier>,
    ) -> Result<(R, ProxyId), Limited> {
        let owner: Weak<dyn Owner> = self.own.clone();
        self.base.hub.consumer_comes()?;
        let outlet = Outlet::new(self.base.proxy(form, style), self.base.clone(), owner);
        outlet.bound(self.base.hub.queue_length());
        let served = serve(&outlet).inspect_err(|_| self.base.hub.consumer_left())?;
        let id = outlet.base.id;
        let obtained = Obtained {
            reference: reference(&served),
            outlet: outlet.clone(),
        };
        self.outlets.lock().insert(id, obtained);
        if self.base.has_ended() {
            outlet.finish(false);
            return Err(Refusal::Destroyed.into());
        }
        Ok((served, id))
    }

    fn obtain_notification(
        &self,
        client: ClientType,
        style: Style,
    ) -> Result<(Option<ProxySupplier>, ProxyId), Limited> {
        let kind = (form_of(client), style);
        let (proxy, id) = self.obtain(kind, serve, |proxy| Some(proxy.clone()))?;
        Ok((Some(proxy), id))
    }

    fn ids(&self, style: Style) -> Vec<ProxyId> {
        let outlets = self.outlets.lock();
        let of_style = outlets
            .values()
            .filter(|one| one.reference.is_some() && one.outlet.base.style == style);
        of_style.map(|one| one.outlet.base.id).collect()
    }

    /// All may set the quality of their clients.
    fn check_change(&self) -> Result<(), Refusal> {
        match self.base.common().is_ending() {
            true => Err(Refusal::Ending),
            false => Ok(()),
        }
    }

    fn quality(&self) -> &Quality {
        &self.base.quality
    }

    fn filters(&self) -> &Attached {
        &self.base.filters
    }
}

impl Owner for ConsumerAdmin {
    fn remove(&self, id: ProxyId) -> bool {
        let removed = self.outlets.lock().remove(&id);
        // The proxy is dropped without the lock.
        removed.is_some()
    }
}

/// Adds the object of a proxy, with the interface of its kind.
fn serve(outlet: &Arc<Outlet>) -> Result<ProxySupplier, Refusal> {
    fn added<I>(outlet: &Arc<Outlet>) -> Result<ProxySupplier, Refusal>
    where
        I: Interface + Implements<Amh<Outlet>> + Into<ProxySupplier>,
    {
        let servant = I::servant(Amh::shared(outlet.clone()));
        let objects = &outlet.base.common.objects;
        let id = objects.id_of(outlet.base.number);
        Ok(objects.add::<I>(&id, servant)?.into())
    }
    match (outlet.base.form, outlet.base.style) {
        (Form::Any, Style::Push) => added::<admin::ProxyPushSupplier>(outlet),
        (Form::Any, Style::Pull) => added::<admin::ProxyPullSupplier>(outlet),
        (Form::Structured, Style::Push) => added::<admin::StructuredProxyPushSupplier>(outlet),
        (Form::Structured, Style::Pull) => added::<admin::StructuredProxyPullSupplier>(outlet),
        (Form::Sequence, Style::Push) => added::<admin::SequenceProxyPushSupplier>(outlet),
        (Form::Sequence, Style::Pull) => added::<admin::SequenceProxyPullSupplier>(outlet),
    }
}

/// Adds the object of a proxy with an interface of the Event Service.
fn serve_plain<I>(outlet: &Arc<Outlet>) -> Result<I, Refusal>
where
    I: Interface + Implements<Amh<Outlet>>,
{
    let servant = I::servant(Amh::shared(outlet.clone()));
    let objects = &outlet.base.common.objects;
    Ok(objects.add(&objects.id_of(outlet.base.number), servant)?)
}

quality_servant!(ConsumerAdmin);
filter_servant!(ConsumerAdmin);

impl NotifySubscribeServant for ConsumerAdmin {
    fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifySubscribeSubscriptionChangeError> {
        let changed = self.base.change_types(added, removed);
        changed.map_err(|bad| match bad {
            BadTypes::Invalid(r#type) => {
                NotifySubscribeSubscriptionChangeError::from(InvalidEventType { r#type })
            }
            BadTypes::TooMany(limit) => {
                SystemException::from(Refusal::too_many_types(limit)).into()
            }
        })?;
        for outlet in self.outlets() {
            outlet.retype();
        }
        Ok(())
    }
}

impl event_admin::ConsumerAdminServant for ConsumerAdmin {
    fn obtain_push_supplier(
        &self,
    ) -> Result<Option<event_admin::ProxyPushSupplier>, SystemException> {
        let kind = (Form::Any, Style::Push);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }

    fn obtain_pull_supplier(
        &self,
    ) -> Result<Option<event_admin::ProxyPullSupplier>, SystemException> {
        let kind = (Form::Any, Style::Pull);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }
}

impl ConsumerAdminServant for ConsumerAdmin {
    fn my_id(&self) -> Result<AdminId, SystemException> {
        Ok(self.base.id)
    }

    fn my_channel(&self) -> Result<Option<admin::EventChannel>, SystemException> {
        Ok(Some(self.base.hub.reference()?))
    }

    fn my_operator(&self) -> Result<Operator, SystemException> {
        Ok(self.base.operator)
    }

    fn priority_filter(&self) -> Result<Option<MappingFilter>, SystemException> {
        Ok(reference(&self.base.mappings.read().priority))
    }

    fn set_priority_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.base.mapping(value)?;
        self.base.mappings.write().priority = found;
        Ok(())
    }

    fn lifetime_filter(&self) -> Result<Option<MappingFilter>, SystemException> {
        Ok(reference(&self.base.mappings.read().lifetime))
    }

    fn set_lifetime_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.base.mapping(value)?;
        self.base.mappings.write().lifetime = found;
        Ok(())
    }

    fn pull_suppliers(&self) -> Result<Vec<ProxyId>, SystemException> {
        Ok(self.ids(Style::Pull))
    }

    fn push_suppliers(&self) -> Result<Vec<ProxyId>, SystemException> {
        Ok(self.ids(Style::Push))
    }

    fn get_proxy_supplier(
        &self,
        proxy_id: ProxyId,
    ) -> Result<Option<ProxySupplier>, ConsumerAdminGetProxySupplierError> {
        let outlets = self.outlets.lock();
        let found = outlets.get(&proxy_id).and_then(|one| one.reference.clone());
        Ok(Some(found.ok_or(ProxyNotFound)?))
    }

    fn obtain_notification_pull_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplier>, ProxyId), ConsumerAdminObtainNotificationPullSupplierError>
    {
        let obtained = self.obtain_notification(ctype, Style::Pull);
        obtained.map_err(|limited| match limited {
            Limited::ByProperty(exceeded) => exceeded.into(),
            Limited::Refused(refusal) => SystemException::from(refusal).into(),
        })
    }

    fn obtain_notification_push_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplier>, ProxyId), ConsumerAdminObtainNotificationPushSupplierError>
    {
        let obtained = self.obtain_notification(ctype, Style::Push);
        obtained.map_err(|limited| match limited {
            Limited::ByProperty(exceeded) => exceeded.into(),
            Limited::Refused(refusal) => SystemException::from(refusal).into(),
        })
    }

    fn destroy(&self) -> Result<(), SystemException> {
        if self.base.id == DEFAULT {
            return Err(Refusal::DefaultAdmin.into());
        }
        self.base.hub.remove_consumer_admin(self.base.id);
        self.end();
        Ok(())
    }
}
