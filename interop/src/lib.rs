//! Peer ORBs, and the matrix of cases tried against them.
//!
//! [`generated`] is the Rust of `idl/everything.idl`, which holds every construct that Rust is
//! generated for in every position that it can take. It compiles under the lints below, so that
//! generated code never warns its users, whatever lints they have turned on.
#![deny(missing_docs, missing_debug_implementations, unsafe_code)]
#![deny(rust_2018_idioms, unused, clippy::all)]
#![deny(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// Rust code that the IDL compiler generates from `idl/everything.idl`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/everything.rs"));
}

/// Rust generated from the file that `everything.idl` includes, compiled alone.
pub mod base {
    include!(concat!(env!("OUT_DIR"), "/everything_base.rs"));
}

/// Rust of IDL that derives from IDL compiled separately; the option `extern_path` refers to
/// [`base`] for the latter.
pub mod derived {
    include!(concat!(env!("OUT_DIR"), "/derived.rs"));
}

/// Rust code that the IDL compiler generates for client-only programs.
pub mod client_only {
    include!(concat!(env!("OUT_DIR"), "/client/derived.rs"));
}

/// Rust code that the IDL compiler generates for server-only programs.
pub mod server_only {
    include!(concat!(env!("OUT_DIR"), "/server/derived.rs"));
}

/// Generated code for IDL names that have another meaning in Rust, its standard library or the runtime.
pub mod awkward {
    include!(concat!(env!("OUT_DIR"), "/awkward.rs"));
}

/// Code that users of generated code must write: the marshaling of custom valuetypes.
mod custom {
    use crate::generated::everything::OwnState;
    use punctual::value::{CdrError, CustomMarshal, DataInputStream, DataOutputStream};

    impl CustomMarshal for OwnState {
        fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError> {
            os.write_value(self.inside.as_ref())?;
            os.write_longlong(self.number)
        }

        fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError> {
            self.inside = is.read_value()?;
            self.number = is.read_longlong()?;
            Ok(())
        }
    }
}
