//! Compiles the interface of the servant that receives the requests.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new()
        .asynchronous(true)
        .compile(&["idl/every.idl"])
}
