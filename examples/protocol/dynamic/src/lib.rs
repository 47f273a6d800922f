//! The checked link as a shared library.
