//! Operations of `EventChannel`.

use punctual::SystemException;

use super::core::Channel;
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notification::{
    AdminPropertiesAdminServant, AdminPropertiesAdminSetAdminError, NamedPropertyRange, Property,
    QoSAdminServant, QoSAdminSetQosError, QoSAdminValidateQosError, UnsupportedAdmin,
};
use crate::cos_notify_channel_admin::{
    AdminId, AdminNotFound, ConsumerAdmin, EventChannelFactory, EventChannelGetConsumeradminError,
    EventChannelGetSupplieradminError, EventChannelServant, InterFilterGroupOperator as Operator,
    SupplierAdmin,
};
use crate::cos_notify_filter::FilterFactory;
use crate::group::DEFAULT;
use crate::hub::Hub;
use crate::refusal::Refusal;

type Result<T, E = SystemException> = std::result::Result<T, E>;

impl Channel {
    /// Those who may create channels may set the quality of one.
    fn check_change(&self) -> std::result::Result<(), Refusal> {
        self.common.check_access()
    }

    fn consumer_admin(
        &self,
        id: AdminId,
    ) -> Result<ConsumerAdmin, EventChannelGetConsumeradminError> {
        let found = self.members.consumer_admin(id).ok_or(AdminNotFound)?;
        Ok(found.reference().map_err(SystemException::from)?)
    }

    fn supplier_admin(
        &self,
        id: AdminId,
    ) -> Result<SupplierAdmin, EventChannelGetSupplieradminError> {
        let found = self.members.supplier_admin(id).ok_or(AdminNotFound)?;
        Ok(found.reference().map_err(SystemException::from)?)
    }

    fn default_consumers(&self) -> Result<ConsumerAdmin> {
        let found = self.members.consumer_admin(DEFAULT);
        Ok(found.ok_or(Refusal::Destroyed("channel"))?.reference()?)
    }

    fn default_suppliers(&self) -> Result<SupplierAdmin> {
        let found = self.members.supplier_admin(DEFAULT);
        Ok(found.ok_or(Refusal::Destroyed("channel"))?.reference()?)
    }
}

impl QoSAdminServant for Channel {
    fn get_qos(&self) -> Result<Vec<Property>> {
        Ok(self.quality.properties())
    }

    fn set_qos(&self, qos: &[Property]) -> Result<(), QoSAdminSetQosError> {
        self.check_change().map_err(SystemException::from)?;
        self.change(|draft| {
            draft.settings = self.quality.changed(qos)?;
            Ok(())
        })
    }

    fn validate_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, QoSAdminValidateQosError> {
        Ok(self.quality.validate(required_qos)?)
    }
}

impl AdminPropertiesAdminServant for Channel {
    fn get_admin(&self) -> Result<Vec<Property>> {
        Ok(self.administration.read().to_properties())
    }

    fn set_admin(&self, admin: &[Property]) -> Result<(), AdminPropertiesAdminSetAdminError> {
        self.check_change().map_err(SystemException::from)?;
        self.change::<AdminPropertiesAdminSetAdminError>(|draft| {
            let changed = draft.administration.changed(admin);
            draft.administration = changed.map_err(|admin_err| UnsupportedAdmin { admin_err })?;
            Ok(())
        })?;
        let queue_length = self.queue_length();
        for outlet in self.outlets() {
            outlet.bound(queue_length);
        }
        Ok(())
    }
}

impl event_admin::EventChannelServant for Channel {
    fn for_consumers(&self) -> Result<Option<event_admin::ConsumerAdmin>> {
        Ok(Some(self.default_consumers()?.into()))
    }

    fn for_suppliers(&self) -> Result<Option<event_admin::SupplierAdmin>> {
        Ok(Some(self.default_suppliers()?.into()))
    }

    fn destroy(&self) -> Result<()> {
        self.common.check_access()?;
        match self.common.is_embedded {
            true => Err(Refusal::Embedded.into()),
            false => Ok(self.remove()?),
        }
    }
}

impl EventChannelServant for Channel {
    /// Nil for the channel of another service.
    fn my_factory(&self) -> Result<Option<EventChannelFactory>> {
        if self.common.is_embedded {
            return Ok(None);
        }
        let home = self.home.upgrade().ok_or(Refusal::Ending)?;
        Ok(Some(home.factory()?))
    }

    fn default_consumer_admin(&self) -> Result<Option<ConsumerAdmin>> {
        Ok(Some(self.default_consumers()?))
    }

    fn default_supplier_admin(&self) -> Result<Option<SupplierAdmin>> {
        Ok(Some(self.default_suppliers()?))
    }

    fn default_filter_factory(&self) -> Result<Option<FilterFactory>> {
        let home = self.home.upgrade().ok_or(Refusal::Ending)?;
        Ok(Some(home.filter_factory()?))
    }

    fn new_for_consumers(&self, op: Operator) -> Result<(Option<ConsumerAdmin>, AdminId)> {
        let (admin, id) = self.add_consumer_admin(op)?;
        Ok((Some(admin), id))
    }

    fn new_for_suppliers(&self, op: Operator) -> Result<(Option<SupplierAdmin>, AdminId)> {
        let (admin, id) = self.add_supplier_admin(op)?;
        Ok((Some(admin), id))
    }

    fn get_consumeradmin(
        &self,
        id: AdminId,
    ) -> Result<Option<ConsumerAdmin>, EventChannelGetConsumeradminError> {
        Ok(Some(self.consumer_admin(id)?))
    }

    fn get_supplieradmin(
        &self,
        id: AdminId,
    ) -> Result<Option<SupplierAdmin>, EventChannelGetSupplieradminError> {
        Ok(Some(self.supplier_admin(id)?))
    }

    fn get_all_consumeradmins(&self) -> Result<Vec<AdminId>> {
        Ok(self.members.consumer_admin_ids())
    }

    fn get_all_supplieradmins(&self) -> Result<Vec<AdminId>> {
        Ok(self.members.supplier_admin_ids())
    }
}
