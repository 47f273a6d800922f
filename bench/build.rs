//! Compiles the IDL.
fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/demux.idl")?;
    punctual_build::compile("idl/oneway.idl")?;
    let asynchronous = punctual_build::Builder::new().asynchronous(true);
    asynchronous.compile(&["idl/ami.idl"])
}
