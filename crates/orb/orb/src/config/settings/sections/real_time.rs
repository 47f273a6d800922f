//! `[real_time]`: Real-time CORBA.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting, field};

/// Highest CORBA priority (RTCORBA 1.2, §5.4).
const HIGHEST: u64 = 32_767;

pub(super) const SECTION: Section = Section {
    name: "real_time",
    doc: "Real-time CORBA (docs/real-time.md), of programs that ask for it (RtConfig::configured); in others the table \
          stops the start. Settings without a value here are the program's.",
    open: None,
    settings: &[
        Setting::new(
            "mode",
            field!(real_time.mode),
            "Start on a machine that does not grant native priorities: refused (require), or without them, with a \
             warning (best_effort).",
        )
        .option("-ORBRealTime")
        .example("\"require\""),
        Setting::new(
            "policy",
            field!(real_time.policy),
            "Scheduling policy of threads with a CORBA priority. SCHED_OTHER has one native priority for all.",
        )
        .option("-ORBSchedPolicy")
        .example("\"SCHED_FIFO\""),
        Setting::new(
            "mapping",
            field!(real_time.mapping),
            "Mapping of CORBA priorities to native ones.",
        )
        .option("-ORBPriorityMapping")
        .example("\"linear\""),
        Setting::new(
            "highest_propagated",
            field!(real_time.highest_propagated),
            "Highest CORBA priority that clients may ask for.",
        )
        .at_most(HIGHEST)
        .example("32767"),
        Setting::new(
            "above_highest",
            field!(real_time.above_highest),
            "Treatment of requests above that: at the highest priority (cap), or refused with NO_PERMISSION (refuse).",
        )
        .example("\"cap\""),
        Setting::new(
            "request_dscp",
            field!(real_time.request_dscp),
            "DSCP of requests' packets by CORBA priority, in steps PRIORITY=DSCP in ascending order. Connections to one \
             host are then marked by the priority of the threads that call over them; the property dscp of a reference \
             or a policy goes before.",
        )
        .example("\"0=CS0,10000=AF21,24000=EF\""),
        Setting::new(
            "reply_dscp",
            field!(real_time.reply_dscp),
            "The same of replies' packets: by the priority of the endpoint's lane, or the lowest of the connection's \
             priority band.",
        )
        .example("\"0=CS0,10000=AF21,24000=EF\""),
        Setting::new(
            "processors",
            field!(real_time.processors),
            "Processors that threads of lanes and thread pools may run on. Default: those of the thread that starts \
             them.",
        )
        .example("[0]"),
        Setting::new(
            "prefault_stack",
            field!(real_time.prefault_stack),
            "If true, the stacks of these threads are brought into memory before they begin.",
        )
        .example("false"),
        Setting::new(
            "lock_memory",
            field!(real_time.lock_memory),
            "If true, the memory of the process is locked (mlockall).",
        )
        .option("-ORBLockMemory")
        .example("false"),
    ],
};

pub(super) const DYNAMIC_SCHEDULING: Section = Section {
    name: "real_time.dynamic_scheduling",
    doc: "Scheduling segments and distributable threads. Without the table there are none.",
    open: Some(|draft| {
        draft.config.real_time.dynamic_scheduling.get_or_insert_default();
    }),
    settings: &[
        Setting::new(
            "disciplines",
            Field {
                path: "real_time.dynamic_scheduling.disciplines",
                slot: |draft| {
                    let settings = &mut draft.config.real_time.dynamic_scheduling;
                    &mut settings.get_or_insert_default().disciplines
                },
            },
            "Disciplines that segments may have. Default: both.",
        )
        .example("[\"fixed_priority\", \"earliest_deadline_first\"]"),
        Setting::new(
            "reservation_runtime_us",
            Field {
                path: "real_time.dynamic_scheduling.most_reserved",
                slot: |draft| &mut draft.reservation.runtime,
            },
            "Maximum runtime that the upcall of a client's segment may reserve, with reservation_percent. Without \
             the two, reservations of clients are ignored.",
        )
        .unit(Unit::Microseconds)
        .at_least(1)
        .example("5000"),
        Setting::new(
            "reservation_percent",
            Field {
                path: "real_time.dynamic_scheduling.most_reserved",
                slot: |draft| &mut draft.reservation.percent,
            },
            "Maximum share of one processor that it may reserve.",
        )
        .unit(Unit::Count("hundredths of one processor"))
        .at_least(1)
        .at_most(100)
        .example("20"),
        Setting::new(
            "above_reservation",
            Field {
                path: "real_time.dynamic_scheduling.above_reservation",
                slot: |draft| &mut draft.reservation.above,
            },
            "Treatment of requests for more: given the maximum (cap), or refused with NO_PERMISSION (refuse).",
        )
        .example("\"cap\""),
    ],
};
