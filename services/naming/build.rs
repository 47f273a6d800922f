//! Compiles the IDL of a test that includes the service's IDL as users' IDL does, and passes the
//! folder of the service's IDL to dependent crates.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let idl = std::env::var_os("DEP_PUNCTUAL_NAMING_CLIENT_IDL").map(PathBuf::from);
    let idl = idl.unwrap_or_default();
    Builder::new()
        .include_dir(&idl)
        .extern_path("::CosNaming", "punctual_naming::cos_naming")
        .compile(&["tests/idl/registry.idl"])?;
    println!("cargo:idl={}", idl.display());
    Ok(())
}
