//! Compiles the IDL, with that of the tests.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .include_dir("idl")
        .compile(&["idl/PunctualEvents.idl", "tests/idl/tracks.idl"])?;
    // Its skeleton is for the tests.
    Builder::new()
        .type_codes(false)
        .compile(&["idl/RtecScheduler.idl"])
}
