//! Compiles the IDL of groups, load balancing and fault-tolerant members.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let naming = std::env::var_os("DEP_PUNCTUAL_NAMING_CLIENT_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir("idl")
        .include_dir(naming.unwrap_or_default())
        .extern_path("::CosNaming", "punctual_naming_client::cos_naming")
        .compile_together(
            "groups",
            &[
                "idl/PortableGroup.idl",
                "idl/CosLoadBalancing.idl",
                "idl/FT_Replica.idl",
                "idl/PunctualGroups.idl",
            ],
        )?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let idl = here.unwrap_or_default().join("idl");
    println!("cargo:idl={}", idl.display());
    Ok(())
}
