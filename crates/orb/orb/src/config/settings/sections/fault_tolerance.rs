//! `[fault_tolerance]`: Fault Tolerant CORBA.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Setting, field};

pub(super) const SECTION: Section = Section {
    name: "fault_tolerance",
    doc: "Fault Tolerant CORBA (docs/fault-tolerance.md), of programs that use it (FaultTolerance::extend); in others the \
          table stops the start.",
    open: None,
    settings: &[
        Setting::new(
            "request_duration_ms",
            field!(fault_tolerance.request_duration),
            "Time for which a call to an object group is repeated, and its reply kept, where no policy says otherwise \
             (Request Duration).",
        )
        .unit(Unit::Milliseconds)
        .at_least(1),
        Setting::new(
            "retain_all",
            field!(fault_tolerance.retain_all),
            "Whether the server keeps the replies to all requests that ask for it, not only those of members of object \
             groups.",
        ),
        Setting::new(
            "retained",
            field!(fault_tolerance.retained),
            "Replies that are kept for all clients together. Further requests that want their replies kept are answered \
             with NO_RESOURCES.",
        )
        .unit(Unit::Count("replies"))
        .at_least(1),
        Setting::new(
            "retained_of_client",
            field!(fault_tolerance.retained_of_client),
            "Replies that are kept for one client: at least its calls a second times the seconds of a request's duration.",
        )
        .unit(Unit::Count("replies"))
        .at_least(1),
        Setting::new(
            "retained_bytes",
            field!(fault_tolerance.retained_bytes),
            "Bytes of the replies that are kept for all clients together. A reply that does not fit is sent and not kept: \
             a repeat of its request is answered with NO_RESOURCES, COMPLETED_YES.",
        )
        .unit(Unit::Bytes)
        .at_least(1024),
        Setting::new(
            "retained_bytes_of_client",
            field!(fault_tolerance.retained_bytes_of_client),
            "Bytes of the replies that are kept for one client.",
        )
        .unit(Unit::Bytes)
        .at_least(1024),
        Setting::new(
            "longest_retention_ms",
            field!(fault_tolerance.longest_retention),
            "Longest time for which a client may have a reply kept. A request that asks for more is answered with \
             NO_RESOURCES.",
        )
        .unit(Unit::Milliseconds)
        .at_least(1),
        Setting::new(
            "waiting_repeats",
            field!(fault_tolerance.waiting_repeats),
            "Repeats of one request that wait for its reply, without a thread. Further ones are answered with TRANSIENT.",
        )
        .unit(Unit::Count("requests")),
    ],
};
