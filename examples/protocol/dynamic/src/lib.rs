//! The checked link as a shared library: all that is needed to have a link loaded at run time.
//!
//! A package of its own, since the symbol that a library exports may be in a program once only, and
//! the link itself may also be linked statically.

punctual_plugin::export_link!(punctual_example_protocol::link());
