//! Compiles the IDL.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .include_dir("idl")
        .compile(&["idl/RtecEventChannelAdmin.idl"])
}
