//! Operations that all proxies of suppliers have: `ProxyConsumer`, `QoSAdmin`, `FilterAdmin`, `NotifyPublish`.

use punctual::SystemException;

use super::core::Inlet;
use crate::administered::{filter_servant, quality_servant};
use crate::cos_notification::{EventType, NamedPropertyRange, Property};
use crate::cos_notify_channel_admin::{
    ObtainInfoMode, ProxyConsumerServant, ProxyConsumerValidateEventQosError, ProxyType,
    SupplierAdmin,
};
use crate::cos_notify_comm::{NotifyPublishOfferChangeError, NotifyPublishServant};
use crate::proxy::Proxy;
use crate::refusal::Refusal;
use crate::stated::Stating;

impl Inlet {
    fn stating(&self) -> &Proxy {
        &self.base
    }
}

quality_servant!(Inlet);
filter_servant!(Inlet);

impl NotifyPublishServant for Inlet {
    fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        self.base
            .change_types::<NotifyPublishOfferChangeError>(added, removed)?;
        self.retype();
        Ok(())
    }
}

impl ProxyConsumerServant for Inlet {
    fn my_type(&self) -> Result<ProxyType, SystemException> {
        Ok(self.base.proxy_type())
    }

    fn my_admin(&self) -> Result<Option<SupplierAdmin>, SystemException> {
        let objects = &self.base.common.objects;
        let admin = objects.reference(&self.group.object_id());
        Ok(Some(admin.map_err(Refusal::from)?))
    }

    fn obtain_subscription_types(
        &self,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        Ok(match self.base.obtains(mode)? {
            true => self.group.hub.subscribed(),
            false => Vec::new(),
        })
    }

    fn validate_event_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, ProxyConsumerValidateEventQosError> {
        Ok(self.base.stated.quality.validate_event(required_qos)?)
    }
}
