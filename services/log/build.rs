//! Compiles the IDL of the service, and of records of the store.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .include_dir("idl")
        .compile_together("log", &["idl/TimeBase.idl", "idl/DsLogAdmin.idl"])?;
    Builder::new()
        .include_dir("idl")
        .extern_path("::DsLogAdmin", "crate::ds_log_admin")
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])
}
