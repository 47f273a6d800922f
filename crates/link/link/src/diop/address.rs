//! Addresses of the link.

/// Name of the UDP link in addresses and options.
pub const NAME: &str = "diop";
