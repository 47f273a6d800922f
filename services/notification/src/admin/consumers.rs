//! `ConsumerAdmin`: the proxies of consumers.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use punctual::asynchronous::Amh;
use punctual::{Implements, Interface, SystemException};

use super::{Admin, DEFAULT};
use crate::administered::{filter_servant, quality_servant};
use crate::channel::Channel;
use crate::client::{Form, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, AdminLimitExceeded, ClientType, ConsumerAdminGetProxySupplierError,
    ConsumerAdminObtainNotificationPullSupplierError,
    ConsumerAdminObtainNotificationPushSupplierError, ConsumerAdminServant,
    InterFilterGroupOperator as Operator, ProxyId, ProxyNotFound, ProxySupplier,
};
use crate::cos_notify_comm::{
    InvalidEventType, NotifySubscribeServant, NotifySubscribeSubscriptionChangeError,
};
use crate::cos_notify_filter::MappingFilter;
use crate::filter::Attached;
use crate::outlet::{self, Mappings, Outlet, reference};
use crate::proxy::form_of;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::types::BadTypes;

/// Administrator of consumers.
pub(crate) struct ConsumerAdmin {
    pub(crate) base: Admin,
    pub(crate) mappings: RwLock<Mappings>,
    outlets: Mutex<BTreeMap<ProxyId, Obtained>>,
    own: Weak<Self>,
}

/// Proxy with its reference; those of the Event Service's interfaces have none of the Notification Service's.
struct Obtained {
    outlet: Arc<Outlet>,
    reference: Option<ProxySupplier>,
}

impl ConsumerAdmin {
    pub(crate) fn new(channel: Arc<Channel>, id: AdminId, operator: Operator) -> Arc<Self> {
        let base = Admin::new(channel, id, operator);
        Arc::new_cyclic(|own| Self {
            base,
            mappings: RwLock::default(),
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
        let objects = &self.base.channel.common.objects;
        Ok(objects.add(&self.base.object_id(), servant)?)
    }

    /// Returns the reference to the administrator.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn reference(&self) -> Result<admin::ConsumerAdmin, Refusal> {
        let objects = &self.base.channel.common.objects;
        Ok(objects.reference(&self.base.object_id())?)
    }

    /// Returns a mapping filter of this service with its reference, or none for a nil one.
    ///
    /// # Errors
    /// It is not of this service.
    pub(crate) fn mapping(
        &self,
        filter: Option<&MappingFilter>,
    ) -> Result<outlet::Attached, Refusal> {
        let channel = &self.base.channel;
        let found = filter.map(|filter| {
            let found = channel.registry.mapping(&channel.common, filter)?;
            Ok((filter.clone(), found))
        });
        found.transpose()
    }

    /// Returns all proxies at present.
    pub(crate) fn outlets(&self) -> Vec<Arc<Outlet>> {
        let outlets = self.outlets.lock();
        outlets.values().map(|one| one.outlet.clone()).collect()
    }

    /// Removes a proxy that has ended.
    pub(crate) fn remove(&self, outlet: &Outlet) {
        let removed = self.outlets.lock().remove(&outlet.base.id);
        if removed.is_some() {
            self.base.channel.consumer_left();
        }
        let objects = &self.base.channel.common.objects;
        objects.remove(&objects.id_of(outlet.base.number));
        // The proxy is dropped without the lock.
        drop(removed);
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
        let own = self.own.upgrade().ok_or(Refusal::Destroyed)?;
        self.base.channel.consumer_comes()?;
        let outlet = Outlet::new(self.base.proxy(form, style), own);
        outlet.bound(self.base.channel.queue_length());
        let served = serve(&outlet).inspect_err(|_| self.base.channel.consumer_left())?;
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

/// Reason for which a proxy is not made.
pub(crate) enum Limited {
    /// There are as many as an administrative property says.
    ByProperty(AdminLimitExceeded),
    Refused(Refusal),
}

impl From<Refusal> for Limited {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// For operations without a matching user exception.
impl From<Limited> for SystemException {
    fn from(limited: Limited) -> Self {
        match limited {
            Limited::ByProperty(_) => Refusal::TooManyClients.into(),
            Limited::Refused(refusal) => refusal.into(),
        }
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
        Ok(Some(self.base.channel.reference()?))
    }

    fn my_operator(&self) -> Result<Operator, SystemException> {
        Ok(self.base.operator)
    }

    fn priority_filter(&self) -> Result<Option<MappingFilter>, SystemException> {
        Ok(reference(&self.mappings.read().priority))
    }

    fn set_priority_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.mapping(value)?;
        self.mappings.write().priority = found;
        Ok(())
    }

    fn lifetime_filter(&self) -> Result<Option<MappingFilter>, SystemException> {
        Ok(reference(&self.mappings.read().lifetime))
    }

    fn set_lifetime_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.mapping(value)?;
        self.mappings.write().lifetime = found;
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
        self.base.channel.remove_consumer_admin(self.base.id);
        self.end();
        Ok(())
    }
}
