//! Compiles the IDL of rehearsals.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/Rehearsal.idl")
}
