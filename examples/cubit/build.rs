//! Compiles the IDL.
fn main() -> Result<(), punctual_build::Error> {
    let asynchronous = punctual_build::Builder::new().asynchronous(true);
    asynchronous.compile(&["idl/cubit.idl"])
}
