//! Compiles the IDL of the example service in the tests.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("tests/idl/board.idl")
}
