//! `[one_way_buffering]`: buffering of one-way requests, which are then sent together.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting, field};

pub(super) const SECTION: Section = Section {
    name: "one_way_buffering",
    doc: "Conditions for sending buffered one-way requests together. Without the table each is sent at once.",
    open: Some(|draft| {
        draft.config.one_way_buffering.get_or_insert_default();
    }),
    settings: &[
        Setting::new(
            "messages",
            Field {
                path: "one_way_buffering.messages",
                slot: |draft| &mut draft.config.one_way_buffering.get_or_insert_default().messages,
            },
            "Number of requests in the buffer (TAO::BUFFER_MESSAGE_COUNT). Default 64.",
        )
        .at_least(1)
        .example("64"),
        Setting::new(
            "octets",
            Field {
                path: "one_way_buffering.octets",
                slot: |draft| &mut draft.config.one_way_buffering.get_or_insert_default().octets,
            },
            "Bytes of requests in the buffer (TAO::BUFFER_MESSAGE_BYTES). Default 32 KiB.",
        )
        .unit(Unit::Bytes)
        .at_least(1)
        .example("32768"),
        Setting::new(
            "delay_ms",
            Field {
                path: "one_way_buffering.delay",
                slot: |draft| &mut draft.config.one_way_buffering.get_or_insert_default().delay,
            },
            "Time that the first request has waited (TAO::BUFFER_TIMEOUT). Default 5 ms; 0 for any time.",
        )
        .unit(Unit::Milliseconds)
        .example("5"),
        Setting::new(
            "most_octets",
            field!(buffer_capacity.octets),
            "Maximum number of bytes of requests that wait or are being sent. A single request may be larger.",
        )
        .unit(Unit::Bytes)
        .at_least(1),
        Setting::new(
            "when_full",
            field!(buffer_capacity.when_full),
            "Treatment of a request beyond that: its caller sends the buffer (flush), waits (block), or is raised \
             TRANSIENT (raise).",
        ),
    ],
};
