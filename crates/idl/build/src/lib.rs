//! Compile OMG IDL from a build script
