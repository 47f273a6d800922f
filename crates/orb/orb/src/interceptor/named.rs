//! Interceptors of all kinds, as far as they have names.

/// Interceptor that has a name.
pub(crate) trait Named {
    fn name(&self) -> &str;
}
