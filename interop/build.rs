//! Compiles the IDL that the tests and the peers share.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::Builder::new()
        .native("::everything::Cookie", "std::num::NonZeroU64")
        .compile(&["idl/everything.idl"])
}
