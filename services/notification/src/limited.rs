//! Limits of a channel's administrative properties.

use punctual::SystemException;

use crate::cos_notify_channel_admin::{
    AdminLimitExceeded, ConsumerAdminObtainNotificationPullSupplierError,
    ConsumerAdminObtainNotificationPushSupplierError,
    SupplierAdminObtainNotificationPullConsumerError,
    SupplierAdminObtainNotificationPushConsumerError,
};
use crate::refusal::Refusal;

/// Reason for which a proxy is not made.
pub(crate) enum Limited {
    /// There are as many as an administrative property says.
    ByProperty(AdminLimitExceeded),
    Refused(Refusal),
}

impl From<Refusal> for Limited {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// For operations without a matching user exception.
impl From<Limited> for SystemException {
    fn from(limited: Limited) -> Self {
        match limited {
            Limited::ByProperty(exceeded) => {
                Refusal::TooManyClients(exceeded.admin_property_err.name).into()
            }
            Limited::Refused(refusal) => refusal.into(),
        }
    }
}

macro_rules! raised_as {
    ($($error:ty;)*) => {
        $(
            impl From<Limited> for $error {
                fn from(limited: Limited) -> Self {
                    match limited {
                        Limited::ByProperty(exceeded) => exceeded.into(),
                        Limited::Refused(refusal) => SystemException::from(refusal).into(),
                    }
                }
            }
        )*
    };
}

raised_as! {
    ConsumerAdminObtainNotificationPullSupplierError;
    ConsumerAdminObtainNotificationPushSupplierError;
    SupplierAdminObtainNotificationPullConsumerError;
    SupplierAdminObtainNotificationPushConsumerError;
}
