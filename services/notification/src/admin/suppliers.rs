//! `SupplierAdmin`: the proxies of suppliers.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::{Implements, Interface, SystemException};

use crate::administered::{filter_servant, quality_servant};
use crate::client::{Form, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, ClientType, InterFilterGroupOperator as Operator, ProxyConsumer,
    ProxyId, ProxyNotFound, SupplierAdminGetProxyConsumerError,
    SupplierAdminObtainNotificationPullConsumerError,
    SupplierAdminObtainNotificationPushConsumerError, SupplierAdminServant,
};
use crate::cos_notify_comm::{NotifyPublishOfferChangeError, NotifyPublishServant};
use crate::filter::Attached;
use crate::group::{DEFAULT, Group};
use crate::hub::{Hub, Owner};
use crate::inlet::{Inlet, refused};
use crate::limited::Limited;
use crate::proxy::form_of;
use crate::quality::Quality;
use crate::refusal::Refusal;

/// Administrator of suppliers.
pub(crate) struct SupplierAdmin {
    pub(crate) base: Arc<Group>,
    inlets: Mutex<BTreeMap<ProxyId, Obtained>>,
    own: Weak<Self>,
}

/// Proxy with its reference; those of the Event Service's interfaces have none of the Notification Service's.
struct Obtained {
    inlet: Arc<Inlet>,
    reference: Option<ProxyConsumer>,
}

impl SupplierAdmin {
    pub(crate) fn new(hub: Arc<dyn Hub>, id: AdminId, operator: Operator) -> Arc<Self> {
        let base = Arc::new(Group::new(hub, id, operator));
        Arc::new_cyclic(|own| Self {
            base,
            inlets: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Adds the administrator's object.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn serve(self: &Arc<Self>) -> Result<admin::SupplierAdmin, Refusal> {
        let servant = <admin::SupplierAdmin as Implements<_>>::servant(self.clone());
        let objects = &self.base.common().objects;
        Ok(objects.add(&self.base.object_id(), servant)?)
    }

    /// Returns the reference to the administrator.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn reference(&self) -> Result<admin::SupplierAdmin, Refusal> {
        let objects = &self.base.common().objects;
        Ok(objects.reference(&self.base.object_id())?)
    }

    /// Returns all proxies at present.
    pub(crate) fn inlets(&self) -> Vec<Arc<Inlet>> {
        let inlets = self.inlets.lock();
        inlets.values().map(|one| one.inlet.clone()).collect()
    }

    /// Ends all connections, and removes the administrator's object.
    pub(crate) fn end(&self) {
        self.base.end();
        for inlet in self.inlets() {
            inlet.finish(true);
        }
    }

    /// Makes a proxy, which is served as `serve` says.
    ///
    /// # Errors
    /// There are as many suppliers as may be; the peer may not supply; the channel has been destroyed.
    fn obtain<R>(
        &self,
        (form, style): (Form, Style),
        serve: impl FnOnce(&Arc<Inlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxyConsumer>,
    ) -> Result<(R, ProxyId), Limited> {
        self.base.common().check_access()?;
        let owner: Weak<dyn Owner> = self.own.clone();
        self.base.hub.supplier_comes()?;
        let inlet = Inlet::new(self.base.proxy(form, style), self.base.clone(), owner);
        let served = serve(&inlet).inspect_err(|_| self.base.hub.supplier_left())?;
        let id = inlet.base.id;
        let obtained = Obtained {
            reference: reference(&served),
            inlet: inlet.clone(),
        };
        self.inlets.lock().insert(id, obtained);
        if self.base.has_ended() {
            inlet.finish(false);
            return Err(Refusal::Destroyed.into());
        }
        Ok((served, id))
    }

    fn obtain_notification(
        &self,
        client: ClientType,
        style: Style,
    ) -> Result<(Option<ProxyConsumer>, ProxyId), Limited> {
        let kind = (form_of(client), style);
        let (proxy, id) = self.obtain(kind, serve, |proxy| Some(proxy.clone()))?;
        Ok((Some(proxy), id))
    }

    fn ids(&self, style: Style) -> Vec<ProxyId> {
        let inlets = self.inlets.lock();
        let of_style = inlets
            .values()
            .filter(|one| one.reference.is_some() && one.inlet.base.style == style);
        of_style.map(|one| one.inlet.base.id).collect()
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

impl Owner for SupplierAdmin {
    fn remove(&self, id: ProxyId) -> bool {
        let removed = self.inlets.lock().remove(&id);
        // The proxy is dropped without the lock.
        removed.is_some()
    }
}

/// Adds the object of a proxy, with the interface of its kind.
fn serve(inlet: &Arc<Inlet>) -> Result<ProxyConsumer, Refusal> {
    fn added<I>(inlet: &Arc<Inlet>) -> Result<ProxyConsumer, Refusal>
    where
        I: Interface + Implements<Arc<Inlet>> + Into<ProxyConsumer>,
    {
        Ok(serve_plain::<I>(inlet)?.into())
    }
    match (inlet.base.form, inlet.base.style) {
        (Form::Any, Style::Push) => added::<admin::ProxyPushConsumer>(inlet),
        (Form::Any, Style::Pull) => added::<admin::ProxyPullConsumer>(inlet),
        (Form::Structured, Style::Push) => added::<admin::StructuredProxyPushConsumer>(inlet),
        (Form::Structured, Style::Pull) => added::<admin::StructuredProxyPullConsumer>(inlet),
        (Form::Sequence, Style::Push) => added::<admin::SequenceProxyPushConsumer>(inlet),
        (Form::Sequence, Style::Pull) => added::<admin::SequenceProxyPullConsumer>(inlet),
    }
}

/// Adds the object of a proxy with one of its interfaces.
fn serve_plain<I>(inlet: &Arc<Inlet>) -> Result<I, Refusal>
where
    I: Interface + Implements<Arc<Inlet>>,
{
    let servant = I::servant(inlet.clone());
    let objects = &inlet.base.common.objects;
    Ok(objects.add(&objects.id_of(inlet.base.number), servant)?)
}

quality_servant!(SupplierAdmin);
filter_servant!(SupplierAdmin);

impl NotifyPublishServant for SupplierAdmin {
    fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        self.base.change_types(added, removed).map_err(refused)?;
        for inlet in self.inlets() {
            inlet.retype();
        }
        Ok(())
    }
}

impl event_admin::SupplierAdminServant for SupplierAdmin {
    fn obtain_push_consumer(
        &self,
    ) -> Result<Option<event_admin::ProxyPushConsumer>, SystemException> {
        let kind = (Form::Any, Style::Push);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }

    fn obtain_pull_consumer(
        &self,
    ) -> Result<Option<event_admin::ProxyPullConsumer>, SystemException> {
        let kind = (Form::Any, Style::Pull);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }
}

impl SupplierAdminServant for SupplierAdmin {
    fn my_id(&self) -> Result<AdminId, SystemException> {
        Ok(self.base.id)
    }

    fn my_channel(&self) -> Result<Option<admin::EventChannel>, SystemException> {
        Ok(Some(self.base.hub.reference()?))
    }

    fn my_operator(&self) -> Result<Operator, SystemException> {
        Ok(self.base.operator)
    }

    fn pull_consumers(&self) -> Result<Vec<ProxyId>, SystemException> {
        Ok(self.ids(Style::Pull))
    }

    fn push_consumers(&self) -> Result<Vec<ProxyId>, SystemException> {
        Ok(self.ids(Style::Push))
    }

    fn get_proxy_consumer(
        &self,
        proxy_id: ProxyId,
    ) -> Result<Option<ProxyConsumer>, SupplierAdminGetProxyConsumerError> {
        let inlets = self.inlets.lock();
        let found = inlets.get(&proxy_id).and_then(|one| one.reference.clone());
        Ok(Some(found.ok_or(ProxyNotFound)?))
    }

    fn obtain_notification_pull_consumer(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxyConsumer>, ProxyId), SupplierAdminObtainNotificationPullConsumerError>
    {
        let obtained = self.obtain_notification(ctype, Style::Pull);
        obtained.map_err(|limited| match limited {
            Limited::ByProperty(exceeded) => exceeded.into(),
            Limited::Refused(refusal) => SystemException::from(refusal).into(),
        })
    }

    fn obtain_notification_push_consumer(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxyConsumer>, ProxyId), SupplierAdminObtainNotificationPushConsumerError>
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
        self.base.hub.remove_supplier_admin(self.base.id);
        self.end();
        Ok(())
    }
}
