//! Compiles the IDL: references in it are never nil.
fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new()
        .non_nil()
        .compile(&["idl/telemetry.idl"])
}
