//! Compiles the IDL: callers go on, and servants answer later.
fn main() -> Result<(), punctual_build::Error> {
    let builder = punctual_build::Builder::new().asynchronous(true).amh(true);
    builder.compile(&["idl/gateway.idl"])
}
