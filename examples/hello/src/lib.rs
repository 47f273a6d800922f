//! The smallest program there can be
