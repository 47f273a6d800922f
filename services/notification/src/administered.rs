//! Operations of `QoSAdmin` and `FilterAdmin`, which proxies of suppliers and administrators have alike.

/// Implements `QoSAdmin` for a type with the methods `quality()`, and `check_change()` for the right to set it.
macro_rules! quality_servant {
    ($servant:ty) => {
        impl crate::cos_notification::QoSAdminServant for $servant {
            fn get_qos(
                &self,
            ) -> Result<Vec<crate::cos_notification::Property>, punctual::SystemException> {
                Ok(self.quality().properties())
            }

            fn set_qos(
                &self,
                qos: &[crate::cos_notification::Property],
            ) -> Result<(), crate::cos_notification::QoSAdminSetQosError> {
                self.check_change()
                    .map_err(punctual::SystemException::from)?;
                Ok(self.quality().set(qos)?)
            }

            fn validate_qos(
                &self,
                required_qos: &[crate::cos_notification::Property],
            ) -> Result<
                Vec<crate::cos_notification::NamedPropertyRange>,
                crate::cos_notification::QoSAdminValidateQosError,
            > {
                Ok(self.quality().validate(required_qos)?)
            }
        }
    };
}

/// Implements `FilterAdmin` for a type with a method `filters()`.
macro_rules! filter_servant {
    ($servant:ty) => {
        impl crate::cos_notify_filter::FilterAdminServant for $servant {
            fn add_filter(
                &self,
                new_filter: Option<&crate::cos_notify_filter::Filter>,
            ) -> Result<crate::cos_notify_filter::FilterId, punctual::SystemException> {
                Ok(self.filters().add(new_filter)?)
            }

            fn remove_filter(
                &self,
                filter: crate::cos_notify_filter::FilterId,
            ) -> Result<(), crate::cos_notify_filter::FilterAdminRemoveFilterError> {
                let removed = self.filters().remove(filter);
                removed.map_err(|_| crate::cos_notify_filter::FilterNotFound.into())
            }

            fn get_filter(
                &self,
                filter: crate::cos_notify_filter::FilterId,
            ) -> Result<
                Option<crate::cos_notify_filter::Filter>,
                crate::cos_notify_filter::FilterAdminGetFilterError,
            > {
                let found = self.filters().get(filter).map(Some);
                found.map_err(|_| crate::cos_notify_filter::FilterNotFound.into())
            }

            fn get_all_filters(
                &self,
            ) -> Result<Vec<crate::cos_notify_filter::FilterId>, punctual::SystemException> {
                Ok(self.filters().ids())
            }

            fn remove_all_filters(&self) -> Result<(), punctual::SystemException> {
                self.filters().clear();
                Ok(())
            }
        }
    };
}

pub(crate) use {filter_servant, quality_servant};
