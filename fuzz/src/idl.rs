//! Fuzz target for IDL files: from files that compile, Rust is generated; for others there must be
//! diagnostics.

use punctual_idl::{InMemory, Options, compile_source};

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let loader = InMemory::new().with("other.idl", "module Other { typedef long Number; };");
    match compile_source("input.idl", input, &Options::default(), &loader) {
        Ok(compiled) => {
            let options = punctual_idl_rust::Options::default();
            if let Err(diagnostics) = punctual_idl_rust::generate(&compiled.specification, &options)
            {
                assert!(!diagnostics.is_empty(), "refused without a reason");
            }
        }
        Err(failure) => {
            assert!(!failure.diagnostics.is_empty(), "refused without a reason");
            for diagnostic in &failure.diagnostics {
                assert!(!diagnostic.to_string().is_empty());
            }
        }
    }
}
