//! pulling
