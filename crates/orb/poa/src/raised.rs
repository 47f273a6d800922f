//! Conversions of errors for `?` in servants and servant managers.

/// Converts an error of an operation that was called at the wrong time to BAD_INV_ORDER with the
/// error's text.
macro_rules! raised_as_bad_inv_order {
    ($error:ty) => {
        impl From<$error> for ::punctual_orb::SystemException {
            fn from(error: $error) -> Self {
                ::punctual_orb::SystemExceptionKind::BadInvOrder.because(error.to_string())
            }
        }

        impl From<$error> for ::punctual_orb::DispatchError {
            fn from(error: $error) -> Self {
                Self::System(error.into())
            }
        }
    };
}
