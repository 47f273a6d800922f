//! Connection to the channel: a proxy from which sequences of events are pulled, and its filters.

use std::error::Error;

use punctual::{Interface, NotNil, Orb};
use punctual_example_alarms::channel::{Failure, find};
use punctual_example_alarms::{CLEARED, alarm_types, clear_types, heartbeat_types};
use punctual_notification::cos_notification::{EventBatch, EventType};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, SequenceProxyPullSupplier,
};
use punctual_notification::cos_notify_comm::SequencePullSupplierTryPullStructuredEventsError;
use punctual_notification::cos_notify_filter::{
    ConstraintExp, Filter, FilterAddConstraintsError, FilterFactoryCreateFilterError,
};

use crate::kept::Kept;

/// Most events of one pull.
const BATCH: i32 = 100;

/// Channel, and alarms that are wanted of it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) factory: String,
    pub(crate) channel: i32,
    pub(crate) filter: Option<String>,
    pub(crate) grammar: String,
}

/// Connected proxy.
#[derive(Debug)]
pub(crate) struct Consumer {
    proxy: SequenceProxyPullSupplier,
}

impl Consumer {
    /// Goes on with the connection that was kept, if it is still there and has the same filter; else connects.
    pub(crate) fn resumed_or_connected(
        orb: &Orb,
        wanted: &Wanted,
        kept: &Kept,
    ) -> Result<Self, Box<dyn Error>> {
        if kept.reference.is_empty() {
            return Self::connected(orb, wanted);
        }
        let object = orb.string_to_object(&kept.reference)?;
        match SequenceProxyPullSupplier::narrow(object) {
            Ok(proxy) if kept.has_filter(wanted.filter.as_deref(), &wanted.grammar) => {
                Ok(Self { proxy })
            }
            Ok(proxy) => {
                Self { proxy }.disconnect();
                Self::connected(orb, wanted)
            }
            Err(error) if Failure::of(&error) == Failure::Ended => Self::connected(orb, wanted),
            Err(error) => Err(format!("no Notification Service answers: {error}").into()),
        }
    }

    /// Connects to the channel.
    pub(crate) fn connected(orb: &Orb, wanted: &Wanted) -> Result<Self, Box<dyn Error>> {
        let channel = find(orb, &wanted.factory, wanted.channel)?;
        // One that is refused leaves no proxy behind.
        let filters = match &wanted.filter {
            Some(text) => vec![
                filter(&channel, &wanted.grammar, &[(alarm_types(), text)])?,
                filter(
                    &channel,
                    "EXTENDED_TCL",
                    &[
                        (heartbeat_types(), "TRUE"),
                        (clear_types(), "TRUE"),
                        (alarm_types(), CLEARED),
                    ],
                )?,
            ],
            None => Vec::new(),
        };
        let admin = channel.default_consumer_admin()?.not_nil()?;
        let (proxy, _) = admin.obtain_notification_pull_supplier(ClientType::SequenceEvent)?;
        let proxy = SequenceProxyPullSupplier::narrow(proxy.not_nil()?.as_object().clone())?;
        let types = [alarm_types(), clear_types(), heartbeat_types()].concat();
        proxy.subscription_change(&types, &[])?;
        for filter in &filters {
            proxy.add_filter(Some(filter))?;
        }
        proxy.connect_sequence_pull_consumer(None)?;
        Ok(Self { proxy })
    }

    /// Pulls the next events, and has those of the pull before taken out of the channel's log.
    pub(crate) fn pull(
        &self,
    ) -> Result<EventBatch, SequencePullSupplierTryPullStructuredEventsError> {
        self.proxy
            .try_pull_structured_events(BATCH)
            .map(|(events, _)| events)
    }

    /// Returns the reference to the proxy, by which another run goes on with the connection.
    pub(crate) fn reference(&self) -> Result<String, Box<dyn Error>> {
        let object = self.proxy.as_object();
        Ok(object.orb().object_to_string(object)?)
    }

    /// Ends the connection, and its filters. A service that is away ends it when it has been away for long.
    pub(crate) fn disconnect(self) {
        let filters = self.proxy.get_all_filters().unwrap_or_default();
        for id in filters {
            if let Ok(Some(filter)) = self.proxy.get_filter(id) {
                let _ = filter.destroy();
            }
        }
        let _ = self.proxy.disconnect_sequence_pull_supplier();
    }
}

/// Makes a filter that an event passes if it meets the constraint for its type.
fn filter(
    channel: &EventChannel,
    grammar: &str,
    constraints: &[(Vec<EventType>, &str)],
) -> Result<Filter, Box<dyn Error>> {
    let factory = channel.default_filter_factory()?.not_nil()?;
    let filter = factory.create_filter(grammar);
    let filter = filter.map_err(|error| match error {
        FilterFactoryCreateFilterError::InvalidGrammar(_) => {
            format!("--grammar {grammar}: the service has EXTENDED_TCL and TCL")
        }
        other => other.to_string(),
    })?;
    let filter = filter.not_nil()?;
    let constraints = constraints.iter().map(|(types, text)| ConstraintExp {
        event_types: types.clone(),
        constraint_expr: (*text).to_owned(),
    });
    let added = filter.add_constraints(&constraints.collect::<Vec<_>>());
    added.map_err(|error| {
        let _ = filter.destroy();
        match error {
            FilterAddConstraintsError::InvalidConstraint(refused) => format!(
                "--filter: the service refuses `{}`; `punctual notify filter check` shows why",
                refused.constr.constraint_expr.escape_debug()
            ),
            other => other.to_string(),
        }
    })?;
    Ok(filter)
}
