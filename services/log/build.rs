//! Compiles the IDL of the service, and of records of the store.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let events = std::env::var_os("DEP_PUNCTUAL_EVENTS_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir("idl")
        .include_dir(events.unwrap_or_default())
        .extern_path("::CosEventComm", "punctual_events::cos_event_comm")
        .extern_path(
            "::CosEventChannelAdmin",
            "punctual_events::cos_event_channel_admin",
        )
        .compile_together(
            "log",
            &[
                "idl/TimeBase.idl",
                "idl/DsLogAdmin.idl",
                "idl/DsLogNotification.idl",
                "idl/DsEventLogAdmin.idl",
            ],
        )?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::DsLogAdmin", "crate::ds_log_admin")
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])
}
