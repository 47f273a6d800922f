//! Compiles the IDL: types of TMF 814.
fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new()
        .client(false)
        .server(false)
        .compile(&["idl/tmf814.idl"])
}
