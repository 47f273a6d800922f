//! Compiles the IDL, with asynchronous calls for clients and deferred answers for servants.
fn main() -> Result<(), punctual_build::Error> {
    let builder = punctual_build::Builder::new().asynchronous(true).amh(true);
    builder.compile(&["idl/gateway.idl"])
}
