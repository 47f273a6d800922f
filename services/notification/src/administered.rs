//! Operations of `QoSAdmin` and `FilterAdmin`, which proxies of suppliers and administrators have alike.

/// Implements `QoSAdmin` for a type with a method `stating()`.
macro_rules! quality_servant {
    ($servant:ty) => {
        impl crate::cos_notification::QoSAdminServant for $servant {
            fn get_qos(
                &self,
            ) -> Result<Vec<crate::cos_notification::Property>, punctual::SystemException> {
                Ok(self.stating().stated.quality.properties())
            }

            fn set_qos(
                &self,
                qos: &[crate::cos_notification::Property],
            ) -> Result<(), crate::cos_notification::QoSAdminSetQosError> {
                crate::stated::Stating::set_quality(self.stating(), qos)
            }

            fn validate_qos(
                &self,
                required_qos: &[crate::cos_notification::Property],
            ) -> Result<
                Vec<crate::cos_notification::NamedPropertyRange>,
                crate::cos_notification::QoSAdminValidateQosError,
            > {
                Ok(self.stating().stated.quality.validate(required_qos)?)
            }
        }
    };
}

/// Implements `FilterAdmin` for a type with a method `stating()`.
macro_rules! filter_servant {
    ($servant:ty) => {
        impl crate::cos_notify_filter::FilterAdminServant for $servant {
            fn add_filter(
                &self,
                new_filter: Option<&crate::cos_notify_filter::Filter>,
            ) -> Result<crate::cos_notify_filter::FilterId, punctual::SystemException> {
                crate::stated::Stating::attach(self.stating(), new_filter)
            }

            fn remove_filter(
                &self,
                filter: crate::cos_notify_filter::FilterId,
            ) -> Result<(), crate::cos_notify_filter::FilterAdminRemoveFilterError> {
                crate::stated::Stating::detach(self.stating(), filter)
            }

            fn get_filter(
                &self,
                filter: crate::cos_notify_filter::FilterId,
            ) -> Result<
                Option<crate::cos_notify_filter::Filter>,
                crate::cos_notify_filter::FilterAdminGetFilterError,
            > {
                Ok(Some(self.stating().stated.filters.get(filter)?))
            }

            fn get_all_filters(
                &self,
            ) -> Result<Vec<crate::cos_notify_filter::FilterId>, punctual::SystemException> {
                Ok(self.stating().stated.filters.ids())
            }

            fn remove_all_filters(&self) -> Result<(), punctual::SystemException> {
                crate::stated::Stating::detach_all(self.stating())
            }
        }
    };
}

pub(crate) use {filter_servant, quality_servant};
