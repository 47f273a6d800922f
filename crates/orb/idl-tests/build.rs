//! Compiles the IDL of the tests.

fn main() -> Result<(), punctual_build::Error> {
    let builder = punctual_build::Builder::new();
    let builder = builder
        .native("local_things::Failure", "crate::Failure")
        .asynchronous(true)
        .amh(true)
        .async_servants(true);
    builder.compile(&[
        "idl/asynchronous.idl",
        "idl/family.idl",
        "idl/idl4.idl",
        "idl/intercepted.idl",
        "idl/interpreted.idl",
        "idl/local.idl",
        "idl/near.idl",
        "idl/values.idl",
    ])
}
