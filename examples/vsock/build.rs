//! Compiles the IDL.
fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/guest.idl")
}
