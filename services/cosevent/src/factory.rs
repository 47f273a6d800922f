//! Factory of channels: the interfaces of omniEvents and of OpenORB.

use std::sync::Arc;

use punctual::{Interface, ObjectRef, SystemException};
use punctual_naming_client::cos_naming::NameComponent;

use crate::channels::{Channels, DEFAULT, TYPED};
use crate::cos_event_channel_admin::EventChannel;
use crate::cos_life_cycle::{
    CannotMeetCriteria, GenericFactoryCreateObjectError, GenericFactoryServant, InvalidCriteria,
    NameValuePair, NoFactory,
};
use crate::criteria::{BadCriterion, Properties};
use crate::event_channel_admin::EventChannelFactoryServant as EarlierFactoryServant;
use crate::ft::PullMonitorableServant;
use crate::omni_events::EventChannelFactoryServant;
use crate::openorb_event::{
    EventChannelFactoryCreateChannelError, EventChannelFactoryJoinChannelError,
    EventChannelFactoryServant as OpenOrbFactoryServant, EventChannelNotFound, NameAlreadyUsed,
};
use crate::refusal::Refusal;

/// Object key and id of the factory.
pub(crate) const FACTORY: &str = "EventChannelFactory";

/// Object key of omniEvents' factory, by which its programs look for it.
pub(crate) const OMNI_FACTORY: &str = "omniEvents";

/// Servant of the factory.
#[derive(Debug)]
pub(crate) struct Factory(pub(crate) Arc<Channels>);

impl Factory {
    /// Returns whether a key asks for typed channels; `None` if it asks for no channels, or for typed ones of a service
    /// that knows no interfaces.
    fn is_of_typed(&self, key: &[NameComponent]) -> Option<bool> {
        let [one] = key else {
            return None;
        };
        match (one.id.as_str(), one.kind.as_str()) {
            (DEFAULT, "object interface") => Some(false),
            (TYPED, "object interface") => self.0.common.interfaces.has_sources().then_some(true),
            _ => None,
        }
    }

    fn create(
        &self,
        criteria: &[NameValuePair],
        is_typed: bool,
    ) -> Result<ObjectRef, GenericFactoryCreateObjectError> {
        let properties = Properties::of(criteria).map_err(|bad| match bad {
            BadCriterion::Invalid(invalid_criteria) => {
                GenericFactoryCreateObjectError::from(InvalidCriteria { invalid_criteria })
            }
            BadCriterion::Unmet(unmet_criteria) => CannotMeetCriteria { unmet_criteria }.into(),
        })?;
        let properties = Properties {
            is_typed,
            ..properties
        };
        self.0.create(properties).map_err(|refusal| match refusal {
            // As omniEvents does where it has the name already.
            Refusal::NameTaken(_) => InvalidCriteria {
                invalid_criteria: named(criteria, "InsName"),
            }
            .into(),
            other => GenericFactoryCreateObjectError::from(SystemException::from(other)),
        })
    }
}

fn named(criteria: &[NameValuePair], name: &str) -> Vec<NameValuePair> {
    let named = criteria.iter().filter(|criterion| criterion.name == name);
    named.cloned().collect()
}

impl GenericFactoryServant for Factory {
    fn supports(&self, k: &[NameComponent]) -> Result<bool, SystemException> {
        Ok(self.is_of_typed(k).is_some())
    }

    fn create_object(
        &self,
        k: &[NameComponent],
        the_criteria: &[NameValuePair],
    ) -> Result<Option<ObjectRef>, GenericFactoryCreateObjectError> {
        match self.is_of_typed(k) {
            Some(is_typed) => self.create(the_criteria, is_typed).map(Some),
            None => Err(NoFactory {
                search_key: k.to_vec(),
            }
            .into()),
        }
    }
}

impl PullMonitorableServant for Factory {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

impl EarlierFactoryServant for Factory {}

impl OpenOrbFactoryServant for Factory {
    fn create_channel(
        &self,
        channel_name: &str,
    ) -> Result<Option<EventChannel>, EventChannelFactoryCreateChannelError> {
        let properties = Properties {
            name: Some(channel_name.to_owned()),
            ..Properties::default()
        };
        let created = self.0.create(properties);
        let channel = created.map_err(|refusal| match refusal {
            Refusal::NameTaken(_) => NameAlreadyUsed.into(),
            other => EventChannelFactoryCreateChannelError::from(SystemException::from(other)),
        })?;
        Ok(Some(EventChannel::from_object(channel)))
    }

    fn join_channel(
        &self,
        channel_name: &str,
    ) -> Result<Option<EventChannel>, EventChannelFactoryJoinChannelError> {
        let found = self.0.find(channel_name).ok_or(EventChannelNotFound)?;
        Ok(Some(EventChannel::from_object(found.as_object().clone())))
    }
}

impl EventChannelFactoryServant for Factory {}
