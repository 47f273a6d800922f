//! Compiles the IDL: what is called asynchronously, the service's own interfaces, and records of the store.

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
            "idl/NotifyExt.idl",
        ],
    )?;
    builder()
        .extern_path("::CosEventChannelAdmin", "crate::cos_event_channel_admin")
        .extern_path("::CosNotification", "crate::cos_notification")
        .extern_path("::CosNotifyComm", "crate::cos_notify_comm")
        .extern_path("::CosNotifyFilter", "crate::cos_notify_filter")
        .extern_path("::NotifyExt", "crate::notify_ext")
        .compile_together(
            "admins",
            &["idl/CosNotifyChannelAdmin.idl", "idl/PunctualNotify.idl"],
        )?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosNotification", "crate::cos_notification")
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
