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
use crate::cos_notify_comm::{
    InvalidEventType, NotifySubscribeAmhServant, NotifySubscribeSubscriptionChangeError,
};
use crate::cos_notify_filter::{
    Filter, FilterAdminAmhServant, FilterAdminGetFilterError, FilterAdminRemoveFilterError,
    FilterId, FilterNotFound, MappingFilter,
};
use crate::filter::reference;
use crate::refusal::Refusal;
use crate::types::BadTypes;

impl QoSAdminAmhServant for Outlet {
    fn get_qos(&self, response: Response<Vec<Property>>) {
        let _ = response.reply(self.base.quality.properties());
    }

    fn set_qos(&self, response: Response<(), QoSAdminSetQosError>, qos: &[Property]) {
        let _ = response.answer(self.set_quality(qos).map_err(Into::into));
    }

    fn validate_qos(
        &self,
        response: Response<Vec<NamedPropertyRange>, QoSAdminValidateQosError>,
        required_qos: &[Property],
    ) {
        let valid = self.base.quality.validate(required_qos);
        let _ = response.answer(valid.map_err(Into::into));
    }
}

impl FilterAdminAmhServant for Outlet {
    fn add_filter(&self, response: Response<FilterId>, new_filter: Option<&Filter>) {
        let added = self.base.filters.add(new_filter);
        let _ = response.answer(added.map_err(SystemException::from));
    }

    fn remove_filter(
        &self,
        response: Response<(), FilterAdminRemoveFilterError>,
        filter: FilterId,
    ) {
        let removed = self.base.filters.remove(filter);
        let _ = response.answer(removed.map_err(|_| FilterNotFound.into()));
    }

    fn get_filter(
        &self,
        response: Response<Option<Filter>, FilterAdminGetFilterError>,
        filter: FilterId,
    ) {
        let found = self.base.filters.get(filter);
        let _ = response.answer(found.map(Some).map_err(|_| FilterNotFound.into()));
    }

    fn get_all_filters(&self, response: Response<Vec<FilterId>>) {
        let _ = response.reply(self.base.filters.ids());
    }

    fn remove_all_filters(&self, response: Response<()>) {
        self.base.filters.clear();
        let _ = response.reply(());
    }
}

impl NotifySubscribeAmhServant for Outlet {
    fn subscription_change(
        &self,
        response: Response<(), NotifySubscribeSubscriptionChangeError>,
        added: &[EventType],
        removed: &[EventType],
    ) {
        let changed = self.subscribe(added, removed);
        let _ = response.answer(changed.map_err(|bad| match bad {
            BadTypes::Invalid(r#type) => InvalidEventType { r#type }.into(),
            BadTypes::TooMany(limit) => {
                SystemException::from(Refusal::too_many_types(limit)).into()
            }
        }));
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
        let _ = response.reply(reference(&self.mappings.read().priority));
    }

    fn set_priority_filter(&self, response: Response<()>, value: Option<&MappingFilter>) {
        let found = self.group.mapping(value);
        let set = found.map(|found| self.mappings.write().priority = found);
        let _ = response.answer(set.map_err(SystemException::from));
    }

    fn lifetime_filter(&self, response: Response<Option<MappingFilter>>) {
        let _ = response.reply(reference(&self.mappings.read().lifetime));
    }

    fn set_lifetime_filter(&self, response: Response<()>, value: Option<&MappingFilter>) {
        let found = self.group.mapping(value);
        let set = found.map(|found| self.mappings.write().lifetime = found);
        let _ = response.answer(set.map_err(SystemException::from));
    }

    fn obtain_offered_types(&self, response: Response<Vec<EventType>>, mode: ObtainInfoMode) {
        let types = match self.base.obtains(mode) {
            true => self.group.hub.offered(),
            false => Vec::new(),
        };
        let _ = response.reply(types);
    }

    fn validate_event_qos(
        &self,
        response: Response<Vec<NamedPropertyRange>, ProxySupplierValidateEventQosError>,
        required_qos: &[Property],
    ) {
        let valid = self.base.quality.validate_event(required_qos);
        let _ = response.answer(valid.map_err(Into::into));
    }
}
