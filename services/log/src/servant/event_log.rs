//! Logs that are event channels: each event of a supplier is a record.

use std::sync::Arc;

use punctual::{Any, Implements, Servant, SystemException, SystemExceptionKind};
use punctual_cosevent::{EmbeddedChannel, EventService, Gate};
use punctual_events::cos_event_channel_admin::{ConsumerAdmin, EventChannelServant, SupplierAdmin};

use super::log::{Kind, ServedLog};
use crate::ds_event_log_admin::{EventLog, EventLogServant};
use crate::kept::Content;
use crate::log::Log;
use crate::logs::Logs;
use crate::refusal::{NotWritten, Refusal};

/// What makes a log an event channel.
#[derive(Debug)]
pub(crate) struct Channel(EmbeddedChannel);

impl Kind for Channel {}

/// Gate that writes events into a log.
struct Recorder(Arc<Log>);

/// Makes the servant of a log with a channel of its own.
///
/// # Errors
/// The channel cannot be made.
pub(crate) fn serve(
    events: &EventService,
    logs: &Arc<Logs>,
    log: &Arc<Log>,
) -> Result<Arc<dyn Servant>, Refusal> {
    let channel = events.embedded_channel(Arc::new(Recorder(log.clone())));
    let channel = channel.map_err(|refusal| Refusal::NoResources(refusal.to_string()))?;
    let servant = ServedLog::new(logs, log, Channel(channel));
    Ok(<EventLog as Implements<_>>::servant(servant))
}

/// Writes events into a log; returns whether consumers get them. Those that the log does not take, as it is full, locked or
/// off duty, pass on all the same.
///
/// # Errors
/// They could not be stored, so that their supplier repeats them, or are too large.
pub(super) fn written(log: &Log, events: Vec<Content>) -> Result<bool, SystemException> {
    match log.write(events) {
        Ok(()) | Err(NotWritten::Full(_) | NotWritten::OffDuty | NotWritten::Locked) => {
            Ok(log.forwards())
        }
        Err(NotWritten::Disabled) => {
            let reason = "the event could not be stored: push it again";
            Err(SystemExceptionKind::PersistStore.because(reason))
        }
        Err(NotWritten::Refused(refusal)) => Err(refusal.into()),
    }
}

impl Gate for Recorder {
    fn pass(&self, event: &Any) -> Result<bool, SystemException> {
        let record = Content {
            attr_list: Vec::new(),
            info: event.clone(),
        };
        written(&self.0, vec![record])
    }
}

impl EventChannelServant for ServedLog<Channel> {
    fn for_consumers(&self) -> Result<Option<ConsumerAdmin>, SystemException> {
        Ok(Some(self.kind.0.for_consumers()))
    }

    fn for_suppliers(&self) -> Result<Option<SupplierAdmin>, SystemException> {
        Ok(Some(self.kind.0.for_suppliers()))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Ok(self.logs.destroy(&self.log)?)
    }
}

impl EventLogServant for ServedLog<Channel> {}
