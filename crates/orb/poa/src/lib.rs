//! The Portable Object Adapter
