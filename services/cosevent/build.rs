//! Compiles the IDL: what the service calls asynchronously, what its servants answer later, and all else.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let names = std::env::var_os("DEP_PUNCTUAL_NAMING_CLIENT_IDL").map(PathBuf::from);
    Builder::new()
        .amh(true)
        .asynchronous(true)
        .compile(&["idl/CosEventComm.idl"])?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosEventComm", "crate::cos_event_comm")
        .amh(true)
        .compile(&["idl/CosEventChannelAdmin.idl"])?;
    Builder::new()
        .include_dir("idl")
        .include_dir(names.unwrap_or_default())
        .extern_path("::CosEventComm", "crate::cos_event_comm")
        .extern_path("::CosEventChannelAdmin", "crate::cos_event_channel_admin")
        .extern_path("::CosNaming", "punctual_naming_client::cos_naming")
        .compile(&["idl/omniEvents.idl"])?;
    Builder::new()
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])
}
