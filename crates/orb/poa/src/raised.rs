//! Errors that `?` raises where a servant or a servant manager meets them.

/// What is done at the wrong time: BAD_INV_ORDER, which says what the error says.
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
