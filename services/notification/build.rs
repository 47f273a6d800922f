//! Compiles the IDL: what is called asynchronously, and the service's own interfaces.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let events = std::env::var_os("DEP_PUNCTUAL_EVENTS_IDL").map(PathBuf::from);
    let builder = || {
        Builder::new()
            .include_dir("idl")
            .include_dir(events.clone().unwrap_or_default())
            .extern_path("::CosEventComm", "crate::cos_event_comm")
            .amh(true)
    };
    builder().asynchronous(true).compile_together(
        "notification",
        &[
            "idl/TimeBase.idl",
            "idl/CosNotification.idl",
            "idl/CosNotifyComm.idl",
            "idl/CosNotifyFilter.idl",
        ],
    )?;
    builder()
        .extern_path("::CosEventChannelAdmin", "crate::cos_event_channel_admin")
        .extern_path("::CosNotification", "crate::cos_notification")
        .extern_path("::CosNotifyComm", "crate::cos_notify_comm")
        .extern_path("::CosNotifyFilter", "crate::cos_notify_filter")
        .compile(&["idl/CosNotifyChannelAdmin.idl"])
}
