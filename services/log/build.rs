//! Compiles the IDL of the service, and of records of the store.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let of = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .unwrap_or_default()
    };
    let notification = of("DEP_PUNCTUAL_NOTIFICATION_IDL");
    let builder = || Builder::new().include_dir("idl").include_dir(&notification);
    builder()
        .include_dir(of("DEP_PUNCTUAL_EVENTS_IDL"))
        .extern_path("::CosEventComm", "punctual_events::cos_event_comm")
        .extern_path(
            "::CosEventChannelAdmin",
            "punctual_events::cos_event_channel_admin",
        )
        .extern_path("::TimeBase", "punctual_notification::time_base")
        .extern_path(
            "::CosNotification",
            "punctual_notification::cos_notification",
        )
        .extern_path("::CosNotifyComm", "punctual_notification::cos_notify_comm")
        .extern_path(
            "::CosNotifyFilter",
            "punctual_notification::cos_notify_filter",
        )
        .extern_path(
            "::CosNotifyChannelAdmin",
            "punctual_notification::cos_notify_channel_admin",
        )
        .compile_together(
            "log",
            &[
                "idl/DsLogAdmin.idl",
                "idl/DsLogNotification.idl",
                "idl/DsEventLogAdmin.idl",
                "idl/DsNotifyLogAdmin.idl",
            ],
        )?;
    builder()
        .extern_path("::DsLogAdmin", "crate::ds_log_admin")
        .extern_path("::TimeBase", "punctual_notification::time_base")
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])
}
