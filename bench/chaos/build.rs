//! Compiles the IDL of the members.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let groups = std::env::var_os("DEP_PUNCTUAL_GROUPS_CLIENT_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir(groups.unwrap_or_default())
        .extern_path("::FT", "punctual_groups_client::ft")
        .compile(&["idl/chaos.idl"])
}
