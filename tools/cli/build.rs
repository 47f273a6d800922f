//! Compiles the IDL of demonstrations.

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    Builder::new()
        .client(false)
        .server(false)
        .compile(&["idl/simulation.idl"])
}
