//! Compiles the IDL of the Naming Service.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    punctual_build::compile("idl/CosNaming.idl")?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::CosNaming", "crate::cos_naming")
        .compile(&["idl/PunctualNaming.idl"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
