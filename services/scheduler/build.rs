//! Compiles the IDL.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .include_dir("idl")
        .compile(&["idl/RtecScheduler.idl"])?;
    Builder::new()
        .include_dir("idl")
        .client(false)
        .server(false)
        .type_codes(false)
        .extern_path("::TimeBase", "crate::time_base")
        .extern_path("::RtecBase", "crate::rtec_base")
        .extern_path("::RtecScheduler", "crate::rtec_scheduler")
        .compile(&["idl/kept.idl"])
}
