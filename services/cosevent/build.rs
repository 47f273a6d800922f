//! Compiles the IDL of factories, and of records of the store.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let of = |crate_of_idl: &str| std::env::var_os(crate_of_idl).map(PathBuf::from);
    let names = of("DEP_PUNCTUAL_NAMING_CLIENT_IDL");
    let events = of("DEP_PUNCTUAL_EVENTS_IDL");
    Builder::new()
        .include_dir("idl")
        .include_dir(names.unwrap_or_default())
        .include_dir(events.unwrap_or_default())
        .extern_path("::CosEventComm", "crate::cos_event_comm")
        .extern_path("::CosEventChannelAdmin", "crate::cos_event_channel_admin")
        .extern_path("::CosNaming", "punctual_naming_client::cos_naming")
        .compile(&["idl/omniEvents.idl"])?;
    typed(of("DEP_PUNCTUAL_EVENTS_IDL").unwrap_or_default())?;
    Builder::new()
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])?;
    // Of tests.
    punctual_build::compile("tests/idl/plant.idl")
}

/// Compiles the IDL of typed channels, whose servants answer later what they ask other servers.
fn typed(events: PathBuf) -> Result<(), Error> {
    Builder::new()
        .include_dir("idl")
        .include_dir(events)
        .extern_path("::CosEventComm", "crate::cos_event_comm")
        .extern_path("::CosEventChannelAdmin", "crate::cos_event_channel_admin")
        .amh(true)
        .compile_together(
            "typed",
            &[
                "idl/CosTypedEventComm.idl",
                "idl/CosTypedEventChannelAdmin.idl",
            ],
        )
}
