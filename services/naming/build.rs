//! Compiles the IDL of the service, and that of a test that includes it like users' IDL.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    punctual_build::compile("idl/CosNaming.idl")?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosNaming", "crate::cos_naming")
        .compile(&["idl/PunctualNaming.idl"])?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosNaming", "punctual_naming::cos_naming")
        .compile(&["tests/idl/registry.idl"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
