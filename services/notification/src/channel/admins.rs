//! Administrators that clients add to a channel, and the proxies of all.

use std::sync::Arc;

use punctual::SystemException;

use super::core::Channel;
use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, InterFilterGroupOperator as Operator,
};
use crate::group::Place;
use crate::hub::Hub;
use crate::inlet::Inlet;
use crate::outlet::Outlet;
use crate::refusal::Refusal;
use crate::stated::Stating;

impl Channel {
    /// Makes an administrator of consumers.
    ///
    /// # Errors
    /// There are as many as may be; the channel has been destroyed; the administrator cannot be stored.
    pub(super) fn add_consumer_admin(
        &self,
        operator: Operator,
    ) -> Result<(admin::ConsumerAdmin, AdminId), SystemException> {
        let own = self.own.upgrade().ok_or(Refusal::Destroyed("channel"))?;
        let place = self.place(operator, true)?;
        let made = ConsumerAdmin::new(own, place);
        made.base.change(|_| Ok::<_, SystemException>(()))?;
        let reference = made.serve().inspect_err(|_| made.base.forget())?;
        self.members.add_consumers(made.clone());
        if self.members.is_destroyed() {
            self.remove_consumer_admin(place.id);
            made.end();
            return Err(Refusal::Destroyed("channel").into());
        }
        Ok((reference, place.id))
    }

    /// Makes an administrator of suppliers.
    ///
    /// # Errors
    /// There are as many as may be; the channel has been destroyed; the administrator cannot be stored.
    pub(super) fn add_supplier_admin(
        &self,
        operator: Operator,
    ) -> Result<(admin::SupplierAdmin, AdminId), SystemException> {
        let own = self.own.upgrade().ok_or(Refusal::Destroyed("channel"))?;
        let place = self.place(operator, false)?;
        let made = SupplierAdmin::new(own, place);
        made.base.change(|_| Ok::<_, SystemException>(()))?;
        let reference = made.serve().inspect_err(|_| made.base.forget())?;
        self.members.add_suppliers(made.clone());
        if self.members.is_destroyed() {
            self.remove_supplier_admin(place.id);
            made.end();
            return Err(Refusal::Destroyed("channel").into());
        }
        Ok((reference, place.id))
    }

    /// Returns the place of a new administrator.
    fn place(&self, operator: Operator, has_consumers: bool) -> Result<Place, Refusal> {
        let mut state = self.members.0.lock();
        let admins = match has_consumers {
            true => state.consumer_admins.len(),
            false => state.supplier_admins.len(),
        };
        state.check(admins, self.common.limits.admins)?;
        Ok(Place {
            id: state.next_id(),
            number: self.common.objects.number(),
            operator,
            has_consumers,
        })
    }

    /// Returns all proxies of consumers.
    pub(crate) fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.members.outlets()
    }

    /// Returns all proxies of suppliers.
    pub(crate) fn inlets(&self) -> Vec<Arc<Inlet>> {
        self.members.inlets()
    }

    /// Returns the number of proxies.
    pub(crate) fn count(&self) -> usize {
        let state = self.members.0.lock();
        state.consumers + state.suppliers
    }
}
