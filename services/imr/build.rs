//! Compiles the IDL: what is called asynchronously and answered later, and records of the store.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .amh(true)
        .asynchronous(true)
        .compile(&["idl/ImplementationRepository.idl"])?;
    Builder::new()
        .include_dir("idl")
        .client(false)
        .server(false)
        .type_codes(false)
        .extern_path(
            "::ImplementationRepository",
            "crate::implementation_repository",
        )
        .compile(&["idl/kept.idl"])?;
    Builder::new().compile(&["tests/idl/works.idl"])
}
