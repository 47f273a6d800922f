//! Compiles the interface of the servant that requests are for.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new()
        .asynchronous(true)
        .compile(&["idl/every.idl"])
}
