//! Compiles the IDL of the tests.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new().compile(&[
        "idl/idl4.idl",
        "idl/interpreted.idl",
        "idl/near.idl",
        "idl/values.idl",
    ])
}
