//! `[concurrency]`: threads that serve connections.

use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting};

pub(super) const SECTION: Section = Section {
    name: "concurrency",
    doc: "Threads that serve the connections of endpoints without a strategy of their own, such as \
          iiop://:2809/concurrency=leader_followers&threads=2.",
    open: None,
    settings: &[
        Setting::new(
            "strategy",
            Field {
                path: "concurrency",
                slot: |draft| &mut draft.concurrency.strategy,
            },
            "Strategy: a thread for each connection (thread_per_connection), one thread for all (reactive), or a \
             pool (leader_followers), which alone has the other keys.",
        )
        .form("thread_per_connection, reactive or leader_followers")
        .example("\"leader_followers\""),
        Setting::new(
            "threads",
            Field {
                path: "concurrency",
                slot: |draft| &mut draft.concurrency.threads,
            },
            "Number of threads that the pool starts with. Default 1.",
        )
        .at_least(1)
        .at_most(4096)
        .example("1"),
        Setting::new(
            "max_threads",
            Field {
                path: "concurrency",
                slot: |draft| &mut draft.concurrency.max_threads,
            },
            "Maximum number of threads. The pool grows to the number of processors when all its threads are busy, and \
             further while all are held up in long upcalls. Default 16.",
        )
        .at_least(1)
        .at_most(4096)
        .example("16"),
        Setting::new(
            "reserve",
            Field {
                path: "concurrency",
                slot: |draft| &mut draft.concurrency.reserve,
            },
            "If true, one more thread refuses requests with TRANSIENT while all threads have been busy for some \
             milliseconds; otherwise requests wait. Default true.",
        )
        .example("true"),
    ],
};
