//! `ConsumerAdmin`: the proxies of consumers.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::{Implements, SystemException};

use super::outlets::{serve, serve_as_plain, serve_plain};
use crate::administered::{filter_servant, quality_servant};
use crate::client::{Client, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, ClientType, ConsumerAdminGetProxySupplierError,
    ConsumerAdminObtainNotificationPullSupplierError,
    ConsumerAdminObtainNotificationPushSupplierError, ConsumerAdminServant,
    InterFilterGroupOperator as Operator, ProxyId, ProxyNotFound, ProxySupplier,
};
use crate::cos_notify_comm::{NotifySubscribeServant, NotifySubscribeSubscriptionChangeError};
use crate::cos_notify_filter::MappingFilter;
use crate::draft::Draft;
use crate::filter::reference;
use crate::group::{DEFAULT, Group, Place};
use crate::hub::{Hub, Owner};
use crate::kept;
use crate::limited::Limited;
use crate::outlet::Outlet;
use crate::proxy::{Kind, Proxy, form_of};
use crate::refusal::Refusal;
use crate::stated::{Stating, forget_all};

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
    pub(crate) fn new(hub: Arc<dyn Hub>, place: Place) -> Arc<Self> {
        let base = Arc::new(Group::new(hub, place));
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

    /// Makes the end of the administrator and of its proxies durable.
    ///
    /// # Errors
    /// It cannot be stored.
    fn prepare_end(&self) -> Result<(), Refusal> {
        let outlets = self.outlets();
        let proxies = outlets.iter().map(|outlet| &outlet.base as &dyn Stating);
        let all = [&*self.base as &dyn Stating].into_iter().chain(proxies);
        forget_all(self.base.common(), &[], all.collect())
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
        kind: Kind,
        serve: impl FnOnce(&Arc<Outlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxySupplier>,
    ) -> Result<(R, ProxyId), Limited> {
        let (_, served, id) = self.add(|group| group.proxy(kind), serve, reference)?;
        Ok((served, id))
    }

    /// Adds a proxy, which is served as `serve` says.
    fn add<R>(
        &self,
        base: impl FnOnce(&Group) -> Proxy,
        serve: impl FnOnce(&Arc<Outlet>) -> Result<R, Refusal>,
        reference: impl FnOnce(&R) -> Option<ProxySupplier>,
    ) -> Result<(Arc<Outlet>, R, ProxyId), Limited> {
        let owner: Weak<dyn Owner> = self.own.clone();
        self.base.hub.consumer_comes()?;
        let outlet = Outlet::new(base(&self.base), self.base.clone(), owner);
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
            return Err(Refusal::Destroyed("administrator").into());
        }
        Ok((outlet, served, id))
    }

    /// Makes a proxy whose connection was kept, and connects it.
    ///
    /// # Errors
    /// There are as many consumers as may be; a reference cannot be made.
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
    ) -> Result<(Option<ProxySupplier>, ProxyId), Limited> {
        let kind = Kind {
            form: form_of(client),
            style,
            is_plain: false,
        };
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

    fn stating(&self) -> &Group {
        &self.base
    }
}

impl Owner for ConsumerAdmin {
    fn remove(&self, id: ProxyId) -> bool {
        let removed = self.outlets.lock().remove(&id);
        // The proxy is dropped without the lock.
        removed.is_some()
    }
}

quality_servant!(ConsumerAdmin);
filter_servant!(ConsumerAdmin);

impl NotifySubscribeServant for ConsumerAdmin {
    fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifySubscribeSubscriptionChangeError> {
        self.base
            .change_types::<NotifySubscribeSubscriptionChangeError>(added, removed)?;
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
        let kind = Kind::plain(Style::Push);
        Ok(Some(self.obtain(kind, serve_plain, |_| None)?.0))
    }

    fn obtain_pull_supplier(
        &self,
    ) -> Result<Option<event_admin::ProxyPullSupplier>, SystemException> {
        let kind = Kind::plain(Style::Pull);
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
        Ok(reference(&self.base.stated.mappings.read().priority))
    }

    fn set_priority_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.base.mapping(value)?;
        self.base.map_priorities(found)
    }

    fn lifetime_filter(&self) -> Result<Option<MappingFilter>, SystemException> {
        Ok(reference(&self.base.stated.mappings.read().lifetime))
    }

    fn set_lifetime_filter(&self, value: Option<&MappingFilter>) -> Result<(), SystemException> {
        let found = self.base.mapping(value)?;
        self.base.map_lives(found)
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
        Ok(self.obtain_notification(ctype, Style::Pull)?)
    }

    fn obtain_notification_push_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplier>, ProxyId), ConsumerAdminObtainNotificationPushSupplierError>
    {
        Ok(self.obtain_notification(ctype, Style::Push)?)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        if self.base.id == DEFAULT {
            return Err(Refusal::DefaultAdmin.into());
        }
        self.prepare_end()?;
        self.base.hub.remove_consumer_admin(self.base.id);
        self.end();
        Ok(())
    }
}
