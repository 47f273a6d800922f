//! Compiles the IDL: what services call asynchronously, what their servants answer later, and all else.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .amh(true)
        .asynchronous(true)
        .compile(&["idl/CosEventComm.idl"])?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosEventComm", "crate::cos_event_comm")
        .amh(true)
        .compile(&["idl/CosEventChannelAdmin.idl"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
