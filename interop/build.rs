//! Compiles the IDL that the tests and the peers share, and some IDL with less common settings.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each file is compiled with all that it includes: `everything.idl` must yield a self-contained
    // file.
    Builder::new()
        .native("::everything::Cookie", "std::num::NonZeroU64")
        .separate(true)
        .compile(&[
            "idl/everything.idl",
            "idl/everything_base.idl",
            "idl/awkward.idl",
        ])?;
    less_usual()?;
    Builder::new()
        .asynchronous(true)
        .amh(true)
        .async_servants(true)
        .compile(&["idl/asynchronous.idl"])?;
    Builder::new()
        .asynchronous(true)
        .compile(&["idl/plain.idl"])?;
    implied()?;
    Builder::new().compile(&[
        "idl/params.idl",
        "idl/naming.idl",
        "idl/adapters.idl",
        "idl/callbacks.idl",
        "idl/groups.idl",
        "idl/values.idl",
    ])?;
    Ok(())
}

/// Writes the implied IDL of `plain.idl` for the peers, as `punctual idl --implied-idl` prints it.
fn implied() -> std::io::Result<()> {
    let options = punctual_idl::Options::default();
    // `plain.idl` has just been compiled without errors.
    let Ok(compilation) = punctual_idl::compile("idl/plain.idl", &options) else {
        return Ok(());
    };
    let mut specification = compilation.specification;
    let handlers = punctual_idl::implied::add_handlers(&mut specification);
    let text = punctual_idl::implied::text(&specification, &handlers);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("implied.idl"), text)?;
    Ok(())
}

/// Compiles IDL that derives from IDL compiled separately: with code for both sides, for clients
/// only, and for servers only.
fn less_usual() -> Result<(), Error> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let derived = Builder::new().extern_path("::everything", "crate::base::everything");
    derived.compile(&["idl/derived.idl"])?;
    let client = derived.clone().server(false).out_dir(out.join("client"));
    client.compile(&["idl/derived.idl"])?;
    let server = derived.client(false).out_dir(out.join("server"));
    server.compile(&["idl/derived.idl"])
}
