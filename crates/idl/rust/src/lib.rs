//! A resolved OMG IDL model to Rust source
