//! Peers, and the matrix of what was tried against them.
//!
//! [`generated`] is the Rust of `idl/everything.idl`, which holds every construct that Rust is
//! generated for in every position that it can take. It compiles under the lints below, so that
//! generated code never warns its users, whatever they have turned on.
#![deny(missing_docs, missing_debug_implementations, unsafe_code)]
#![deny(rust_2018_idioms, unused, clippy::all)]
#![deny(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// What the IDL compiler makes of `idl/everything.idl`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/everything.rs"));
}

/// What it makes of the file that `everything.idl` includes, by itself.
pub mod base {
    include!(concat!(env!("OUT_DIR"), "/everything_base.rs"));
}

/// IDL that derives from IDL compiled elsewhere: `extern_path` leads to [`base`].
pub mod derived {
    include!(concat!(env!("OUT_DIR"), "/derived.rs"));
}

/// For a program that only calls.
pub mod client_only {
    include!(concat!(env!("OUT_DIR"), "/client/derived.rs"));
}

/// For a program that only serves.
pub mod server_only {
    include!(concat!(env!("OUT_DIR"), "/server/derived.rs"));
}

/// Names that Rust, its standard library and the runtime use for something else.
pub mod awkward {
    include!(concat!(env!("OUT_DIR"), "/awkward.rs"));
}

/// What is left to the user of generated code: how a custom state travels.
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
