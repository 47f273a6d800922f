//! Operations that all proxies of consumers have: `ProxySupplier`, `QoSAdmin`, `FilterAdmin`, `NotifySubscribe`.

use punctual::{Response, SystemException};

use super::core::Outlet;
use crate::cos_notification::{
    EventType, NamedPropertyRange, Property, QoSAdminAmhServant, QoSAdminSetQosError,
    QoSAdminValidateQosError,
};
use crate::cos_notify_channel_admin::{
    ConsumerAdmin, ObtainInfoMode, ProxySupplierAmhServant, ProxySupplierValidateEventQosError,
    ProxyType,
};
use crate::cos_notify_comm::{NotifySubscribeAmhServant, NotifySubscribeSubscriptionChangeError};
use crate::cos_notify_filter::{
    Filter, FilterAdminAmhServant, FilterAdminGetFilterError, FilterAdminRemoveFilterError,
    FilterId, MappingFilter,
};
use crate::filter::reference;
use crate::refusal::Refusal;
use crate::stated::Stating;

impl QoSAdminAmhServant for Outlet {
    fn get_qos(&self, response: Response<Vec<Property>>) {
        let _ = response.reply(self.base.stated.quality.properties());
    }

    fn set_qos(&self, response: Response<(), QoSAdminSetQosError>, qos: &[Property]) {
        let set = self.base.set_quality(qos);
        let _ = response.answer(set.map(|()| self.requalify()));
    }

    fn validate_qos(
        &self,
        response: Response<Vec<NamedPropertyRange>, QoSAdminValidateQosError>,
        required_qos: &[Property],
    ) {
        let valid = self.base.stated.quality.validate(required_qos);
        let _ = response.answer(valid.map_err(Into::into));
    }
}

impl FilterAdminAmhServant for Outlet {
    fn add_filter(&self, response: Response<FilterId>, new_filter: Option<&Filter>) {
        let _ = response.answer(self.base.attach(new_filter));
    }

    fn remove_filter(
        &self,
        response: Response<(), FilterAdminRemoveFilterError>,
        filter: FilterId,
    ) {
        let _ = response.answer(self.base.detach(filter));
    }

    fn get_filter(
        &self,
        response: Response<Option<Filter>, FilterAdminGetFilterError>,
        filter: FilterId,
    ) {
        let found = self.base.stated.filters.get(filter);
        let _ = response.answer(found.map(Some).map_err(Into::into));
    }

    fn get_all_filters(&self, response: Response<Vec<FilterId>>) {
        let _ = response.reply(self.base.stated.filters.ids());
    }

    fn remove_all_filters(&self, response: Response<()>) {
        let _ = response.answer(self.base.detach_all());
    }
}

impl NotifySubscribeAmhServant for Outlet {
    fn subscription_change(
        &self,
        response: Response<(), NotifySubscribeSubscriptionChangeError>,
        added: &[EventType],
        removed: &[EventType],
    ) {
        let changed = self.base.change_types(added, removed);
        let _ = response.answer(changed.map(|()| self.retype()));
    }
}

impl ProxySupplierAmhServant for Outlet {
    fn my_type(&self, response: Response<ProxyType>) {
        let _ = response.reply(self.base.proxy_type());
    }

    fn my_admin(&self, response: Response<Option<ConsumerAdmin>>) {
        let objects = &self.base.common.objects;
        let admin = objects.reference(&self.group.object_id()).map(Some);
        let _ = response.answer(admin.map_err(|error| Refusal::from(error).into()));
    }

    fn priority_filter(&self, response: Response<Option<MappingFilter>>) {
        let _ = response.reply(reference(&self.base.stated.mappings.read().priority));
    }

    fn set_priority_filter(&self, response: Response<()>, value: Option<&MappingFilter>) {
        let found = self.group.mapping(value);
        let found = found.map_err(SystemException::from);
        let _ = response.answer(found.and_then(|found| self.base.map_priorities(found)));
    }

    fn lifetime_filter(&self, response: Response<Option<MappingFilter>>) {
        let _ = response.reply(reference(&self.base.stated.mappings.read().lifetime));
    }

    fn set_lifetime_filter(&self, response: Response<()>, value: Option<&MappingFilter>) {
        let found = self.group.mapping(value);
        let found = found.map_err(SystemException::from);
        let _ = response.answer(found.and_then(|found| self.base.map_lives(found)));
    }

    fn obtain_offered_types(&self, response: Response<Vec<EventType>>, mode: ObtainInfoMode) {
        let types = self.base.obtains(mode).map(|wants_now| match wants_now {
            true => self.group.hub.offered(),
            false => Vec::new(),
        });
        let _ = response.answer(types);
    }

    fn validate_event_qos(
        &self,
        response: Response<Vec<NamedPropertyRange>, ProxySupplierValidateEventQosError>,
        required_qos: &[Property],
    ) {
        let valid = self.base.stated.quality.validate_event(required_qos);
        let _ = response.answer(valid.map_err(Into::into));
    }
}
