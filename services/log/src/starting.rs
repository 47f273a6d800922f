//! Parts of a service as it starts: channels, factories' logs, what was kept, and what is done now and then.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use punctual::{Implements, Poa};
use punctual_cosevent::EventService;
use punctual_events::Timetable;
use punctual_host::access::Rules;

use crate::common::Common;
use crate::ds_log_admin::{BasicLog, RecordId};
use crate::kept::FactoryKind;
use crate::limits::Limits;
use crate::log::Log;
use crate::logs::Logs;
use crate::notices::Tell;
use crate::record::Entry;
use crate::refusal::Refusal;
use crate::servant::{Announcements, Basic, ServedLog, serve_event_log};
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

/// Makes the logs that clients write to.
pub(crate) fn basic_logs(common: &Arc<Common>) -> Arc<Logs> {
    let serve = |logs: &Arc<Logs>, log: &Arc<Log>| {
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
    let serve = move |logs: &Arc<Logs>, log: &Arc<Log>| serve_event_log(&events, logs, log);
    let notices = Some(announcements as Arc<dyn Tell>);
    Logs::new(common.clone(), FactoryKind::Event, Box::new(serve), notices)
}

/// Makes the logs that were kept. Records without a log are those of one that was destroyed, and are removed.
pub(crate) fn restore([basic, event]: &[Arc<Logs>; 2], kept: Kept) {
    let mut records: HashMap<u64, Vec<(RecordId, Entry)>> = HashMap::new();
    for ((log, id), entry) in kept.entries {
        records.entry(log).or_default().push((id, entry));
    }
    let last: HashMap<_, _> = kept.last.into_iter().collect();
    for (number, settings) in kept.logs {
        let last = last.get(&number).copied().unwrap_or_default();
        let records = records.remove(&number).unwrap_or_default();
        let logs = match settings.made_by {
            FactoryKind::Basic => basic,
            FactoryKind::Event => event,
        };
        if let Err(refusal) = logs.restore(number, settings, (last, records)) {
            tracing::warn!("a log that was kept is not served: {refusal}");
        }
    }
    for (log, records) in records {
        let ids = records.iter().map(|(id, _)| *id);
        basic.common.discarded.add(log, ids);
    }
}

/// Removes what has ended from the file and from memory, now and then.
pub(crate) fn sweep_later(timetable: &Arc<Timetable>, common: &Arc<Common>, logs: &[Arc<Logs>; 2]) {
    let (later, shared) = (Arc::downgrade(timetable), Arc::downgrade(common));
    let swept = logs.each_ref().map(Arc::downgrade);
    timetable.after(common.limits.sweep, move || {
        let [Some(basic), Some(event)] = swept.each_ref().map(Weak::upgrade) else {
            return;
        };
        let (Some(timetable), Some(common)) = (later.upgrade(), shared.upgrade()) else {
            return;
        };
        let logs = [basic, event];
        common.iterators.expire();
        for log in logs.iter().flat_map(|logs| logs.all()) {
            log.expire();
        }
        common.sweep();
        sweep_later(&timetable, &common, &logs);
    });
}
