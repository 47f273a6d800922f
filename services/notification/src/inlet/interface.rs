//! Operations that all proxies of suppliers have: `ProxyConsumer`, `QoSAdmin`, `FilterAdmin`, `NotifyPublish`.

use punctual::SystemException;

use super::core::Inlet;
use crate::administered::{filter_servant, quality_servant};
use crate::cos_notification::{EventType, NamedPropertyRange, Property};
use crate::cos_notify_channel_admin::{
    ObtainInfoMode, ProxyConsumerServant, ProxyConsumerValidateEventQosError, ProxyType,
    SupplierAdmin,
};
use crate::cos_notify_comm::{
    InvalidEventType, NotifyPublishOfferChangeError, NotifyPublishServant,
};
use crate::filter::Attached;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::types::BadTypes;

impl Inlet {
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

quality_servant!(Inlet);
filter_servant!(Inlet);

/// Returns the exception of a change of offers that is refused.
pub(crate) fn refused(bad: BadTypes) -> NotifyPublishOfferChangeError {
    match bad {
        BadTypes::Invalid(r#type) => InvalidEventType { r#type }.into(),
        BadTypes::TooMany(limit) => SystemException::from(Refusal::too_many_types(limit)).into(),
    }
}

impl NotifyPublishServant for Inlet {
    fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        self.offer(added, removed).map_err(refused)
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
        Ok(match self.base.obtains(mode) {
            true => self.group.hub.subscribed(),
            false => Vec::new(),
        })
    }

    fn validate_event_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, ProxyConsumerValidateEventQosError> {
        Ok(self.base.quality.validate_event(required_qos)?)
    }
}
