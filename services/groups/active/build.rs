//! Compiles the IDL of the records in the log and in stored states; for tests, the interface of their members.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let requests = std::env::var_os("DEP_PUNCTUAL_GROUPS_REQUESTS_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir(requests.unwrap_or_default())
        .extern_path("::Requests", "punctual_groups_requests::requests")
        .compile_together("records", &["idl/records.idl"])?;
    let groups = std::env::var_os("DEP_PUNCTUAL_GROUPS_CLIENT_IDL").map(PathBuf::from);
    Builder::new()
        .include_dir(groups.unwrap_or_default())
        .extern_path("::FT", "punctual_groups_client::ft")
        .compile_together("ledger", &["tests/idl/ledger.idl"])
}
