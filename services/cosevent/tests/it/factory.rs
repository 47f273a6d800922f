//! factory
