//! Parts of a service as it starts: channels, factories' logs, what was kept, and what is done now and then.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use punctual::{Implements, Poa};
use punctual_cosevent::EventService;
use punctual_events::Timetable;
use punctual_host::access::Rules;
use punctual_notification::{EmbeddedChannels, EventFilter, NotificationService};

use crate::common::Common;
use crate::ds_log_admin::{BasicLog, RecordId};
use crate::kept::{self, FactoryKind};
use crate::limits::Limits;
use crate::log::Log;
use crate::logs::{Attributes, Logs, Notify};
use crate::notices::Tell;
use crate::record::Entry;
use crate::refusal::Refusal;
use crate::servant::{Announcements, Basic, Notices, ServedLog, serve_event_log, serve_notify_log};
use crate::storage::Kept;

pub(crate) fn no_resources(error: impl fmt::Display) -> Refusal {
    Refusal::NoResources(error.to_string())
}

/// Starts the channels of event logs.
///
/// # Errors
/// A thread or the adapter cannot be made.
pub(crate) fn events(
    parent: &Poa,
    limits: &Limits,
    writers: &Rules<()>,
) -> Result<EventService, Refusal> {
    let events = EventService::in_memory();
    events.set_limits(punctual_cosevent::Limits {
        // There are as many as logs, which are limited themselves.
        channels: usize::MAX,
        event_bytes: limits.record_bytes,
        ..punctual_cosevent::Limits::default()
    });
    events.set_writers(writers.clone());
    events.embed(parent).map_err(no_resources)?;
    Ok(events)
}

/// Channels of notify logs, and the filters of logs that were kept.
pub(crate) type Notification = (
    NotificationService,
    EmbeddedChannels,
    HashMap<u64, EventFilter>,
);

/// Starts the channels of notify logs, in the file of the logs.
///
/// # Errors
/// A thread or the adapter cannot be made; the file cannot be read or written.
pub(crate) fn notification(
    parent: &Poa,
    common: &Common,
    kept: &Kept,
) -> Result<Notification, Refusal> {
    let service = NotificationService::within(common.storage.file()?);
    service.set_limits(punctual_notification::Limits {
        // As above.
        channels: usize::MAX,
        event_bytes: common.limits.record_bytes,
        ..punctual_notification::Limits::default()
    });
    service.set_writers(common.writers.clone());
    let logs = kept.notify_logs.iter().map(|(_, log)| log);
    let (channels, filters): (Vec<_>, Vec<_>) = logs.map(|log| (log.channel, log.filter)).unzip();
    let filters: Vec<_> = filters.into_iter().filter(|filter| *filter != 0).collect();
    let (channels, filters) = service.embed(parent, &channels, &filters)?;
    Ok((service, channels, filters))
}

/// Makes the logs that clients write to.
pub(crate) fn basic_logs(common: &Arc<Common>) -> Arc<Logs> {
    let serve = |logs: &Arc<Logs>, log: &Arc<Log>, _: Option<Notify>| {
        let servant = ServedLog::new(logs, log, Basic);
        Ok(<BasicLog as Implements<_>>::servant(servant))
    };
    Logs::new(common.clone(), FactoryKind::Basic, Box::new(serve), None)
}

/// Makes the logs that are event channels.
pub(crate) fn event_logs(
    common: &Arc<Common>,
    events: &EventService,
    announcements: Arc<Announcements>,
) -> Arc<Logs> {
    let events = events.clone();
    let serve = move |logs: &Arc<Logs>, log: &Arc<Log>, _: Option<Notify>| {
        serve_event_log(&events, logs, log)
    };
    let notices = Some(announcements as Arc<dyn Tell>);
    Logs::new(common.clone(), FactoryKind::Event, Box::new(serve), notices)
}

/// Makes the logs that are channels of the Notification Service.
pub(crate) fn notify_logs(
    common: &Arc<Common>,
    channels: &EmbeddedChannels,
    notices: Arc<Notices>,
) -> Arc<Logs> {
    let channels = channels.clone();
    let serve = move |logs: &Arc<Logs>, log: &Arc<Log>, notify: Option<Notify>| {
        serve_notify_log(&channels, logs, log, notify)
    };
    let notices = Some(notices as Arc<dyn Tell>);
    Logs::new(
        common.clone(),
        FactoryKind::Notify,
        Box::new(serve),
        notices,
    )
}

/// Makes the logs that were kept. Records without a log are those of one that was destroyed, and are removed.
pub(crate) fn restore(
    [basic, event, notify]: &[Arc<Logs>; 3],
    kept: Kept,
    filters: &HashMap<u64, EventFilter>,
) {
    let mut records: HashMap<u64, Vec<(RecordId, Entry)>> = HashMap::new();
    for ((log, id), entry) in kept.entries {
        records.entry(log).or_default().push((id, entry));
    }
    let last: HashMap<_, _> = kept.last.into_iter().collect();
    let channels: HashMap<_, _> = kept.notify_logs.into_iter().collect();
    for (number, settings) in kept.logs {
        let last = last.get(&number).copied().unwrap_or_default();
        let records = records.remove(&number).unwrap_or_default();
        let logs = match settings.made_by {
            FactoryKind::Basic => basic,
            FactoryKind::Event => event,
            FactoryKind::Notify => notify,
        };
        let notify = channels.get(&number).map(|log| restored(log, filters));
        let restored = notify.transpose().and_then(|notify| {
            let attributes = Attributes { settings, notify };
            logs.restore(number, attributes, (last, records))
        });
        if let Err(refusal) = restored {
            tracing::warn!("a log that was kept is not served: {refusal}");
        }
    }
    for (log, records) in records {
        let ids = records.iter().map(|(id, _)| *id);
        basic.common.discarded.add(log, ids);
    }
}

/// Returns the channel and filter of a notify log.
///
/// # Errors
/// Its filter was not kept.
fn restored(log: &kept::NotifyLog, filters: &HashMap<u64, EventFilter>) -> Result<Notify, Refusal> {
    let filter = match log.filter {
        0 => None,
        number => Some(
            filters
                .get(&number)
                .cloned()
                .ok_or_else(|| no_resources(format!("filter {number} was not kept")))?,
        ),
    };
    Ok(Notify {
        channel: log.channel,
        filter,
    })
}

/// Removes what has ended from the file and from memory, now and then.
pub(crate) fn sweep_later(timetable: &Arc<Timetable>, common: &Arc<Common>, logs: &[Arc<Logs>; 3]) {
    let (later, shared) = (Arc::downgrade(timetable), Arc::downgrade(common));
    let swept = logs.each_ref().map(Arc::downgrade);
    timetable.after(common.limits.sweep, move || {
        let [Some(basic), Some(event), Some(notify)] = swept.each_ref().map(Weak::upgrade) else {
            return;
        };
        let (Some(timetable), Some(common)) = (later.upgrade(), shared.upgrade()) else {
            return;
        };
        let logs = [basic, event, notify];
        common.iterators.expire();
        for log in logs.iter().flat_map(|logs| logs.all()) {
            log.expire();
        }
        common.sweep();
        sweep_later(&timetable, &common, &logs);
    });
}
