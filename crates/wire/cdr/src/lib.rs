//! Common Data Representation: alignment, byte order, code sets, limits
