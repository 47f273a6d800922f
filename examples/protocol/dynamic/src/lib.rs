//! Checked link as a shared library: all that is needed to have a link loaded at run time.
//!
//! It is a package of its own, since the symbol that a library exports may be in a program only
//! once, and the link itself may also be linked statically.

punctual_plugin::export_link!(punctual_example_protocol::link());
