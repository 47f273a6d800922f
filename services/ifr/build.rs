//! Compiles the IDL.
fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/ir.idl")?;
    punctual_build::Builder::new()
        .client(false)
        .server(false)
        .type_codes(false)
        .extern_path("::CORBA", "crate::corba")
        .compile(&["idl/store.idl"])
}
