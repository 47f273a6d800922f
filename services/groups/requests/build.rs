//! Compiles the IDL of the records; for tests, the interface of their members.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new().compile_together("requests", &["idl/requests.idl"])?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::Requests", "crate::requests")
        .compile_together("passive", &["idl/passive.idl"])?;
    let groups = std::env::var_os("DEP_PUNCTUAL_GROUPS_CLIENT_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir(groups.unwrap_or_default())
        .extern_path("::FT", "punctual_groups_client::ft")
        .compile(&["tests/idl/register.idl"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
