//! `SupplierAdmin`: the proxies of suppliers.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::{Implements, SystemException};

use super::inlets::{serve, serve_as_plain, serve_plain};
use crate::administered::{filter_servant, quality_servant};
use crate::client::{Client, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, ClientType, InterFilterGroupOperator as Operator, ProxyConsumer,
    ProxyId, ProxyNotFound, SupplierAdminGetProxyConsumerError,
    SupplierAdminObtainNotificationPullConsumerError,
    SupplierAdminObtainNotificationPushConsumerError, SupplierAdminServant,
};
use crate::cos_notify_comm::{NotifyPublishOfferChangeError, NotifyPublishServant};
use crate::draft::Draft;
use crate::group::{DEFAULT, Group, Place};
use crate::hub::{Hub, Owner};
use crate::inlet::Inlet;
use crate::kept;
use crate::limited::Limited;
use crate::proxy::{Kind, Proxy, form_of};
use crate::refusal::Refusal;
use crate::stated::{Stating, forget_all};

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
    pub(crate) fn new(hub: Arc<dyn Hub>, place: Place) -> Arc<Self> {
        let base = Arc::new(Group::new(hub, place));
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

    /// Makes the end of the administrator and of its proxies durable.
    ///
    /// # Errors
    /// It cannot be stored.
    fn prepare_end(&self) -> Result<(), Refusal> {
        let inlets = self.inlets();
        let proxies = inlets.iter().map(|inlet| &inlet.base as &dyn Stating);
        let all = [&*self.base as &dyn Stating].into_iter().chain(proxies);
        forget_all(self.base.common(), &[], all.collect())
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
        kind: Kind,
        serve: impl FnOnce(&Arc<Inlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxyConsumer>,
    ) -> Result<(R, ProxyId), Limited> {
        self.base.common().check_access()?;
        let (_, served, id) = self.add(|group| group.proxy(kind), serve, reference)?;
        Ok((served, id))
    }

    /// Adds a proxy, which is served as `serve` says.
    fn add<R>(
        &self,
        base: impl FnOnce(&Group) -> Proxy,
        serve: impl FnOnce(&Arc<Inlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxyConsumer>,
    ) -> Result<(Arc<Inlet>, R, ProxyId), Limited> {
        let owner: Weak<dyn Owner> = self.own.clone();
        self.base.hub.supplier_comes()?;
        let inlet = Inlet::new(base(&self.base), self.base.clone(), owner);
        let served = serve(&inlet).inspect_err(|_| self.base.hub.supplier_left())?;
        let id = inlet.base.id;
        let obtained = Obtained {
            reference: reference(&served),
            inlet: inlet.clone(),
        };
        self.inlets.lock().insert(id, obtained);
        if self.base.has_ended() {
            inlet.finish(false);
            return Err(Refusal::Destroyed("administrator").into());
        }
        Ok((inlet, served, id))
    }

    /// Makes a proxy whose connection was kept, and connects it.
    ///
    /// # Errors
    /// There are as many suppliers as may be; a reference cannot be made.
    pub(crate) fn restore(
        &self,
        number: u64,
        kept: &kept::Proxy,
        client: Option<Client>,
        draft: Draft,
    ) -> Result<(), SystemException> {
        let kind = Kind::of_kept(kept);
        let base = |group: &Group| group.kept_proxy(kept.id, number, kind);
        let made = match kind.is_plain {
            true => self.add(base, serve_as_plain, |()| None)?.0,
            false => self.add(base, serve, |proxy| Some(proxy.clone()))?.0,
        };
        Ok(made.restore(client, draft)?)
    }

    fn obtain_notification(
        &self,
        client: ClientType,
        style: Style,
    ) -> Result<(Option<ProxyConsumer>, ProxyId), Limited> {
        let kind = Kind {
            form: form_of(client),
            style,
            is_plain: false,
        };
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

    fn stating(&self) -> &Group {
        &self.base
    }
}

impl Owner for SupplierAdmin {
    fn remove(&self, id: ProxyId) -> bool {
        let removed = self.inlets.lock().remove(&id);
        // The proxy is dropped without the lock.
        removed.is_some()
    }
}

quality_servant!(SupplierAdmin);
filter_servant!(SupplierAdmin);

impl NotifyPublishServant for SupplierAdmin {
    fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        self.base
            .change_types::<NotifyPublishOfferChangeError>(added, removed)?;
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
        let kind = Kind::plain(Style::Push);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }

    fn obtain_pull_consumer(
        &self,
    ) -> Result<Option<event_admin::ProxyPullConsumer>, SystemException> {
        let kind = Kind::plain(Style::Pull);
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
        Ok(self.obtain_notification(ctype, Style::Pull)?)
    }

    fn obtain_notification_push_consumer(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxyConsumer>, ProxyId), SupplierAdminObtainNotificationPushConsumerError>
    {
        Ok(self.obtain_notification(ctype, Style::Push)?)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        if self.base.id == DEFAULT {
            return Err(Refusal::DefaultAdmin.into());
        }
        self.prepare_end()?;
        self.base.hub.remove_supplier_admin(self.base.id);
        self.end();
        Ok(())
    }
}
