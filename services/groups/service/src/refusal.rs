//! Reasons for refusing an operation, and their exceptions.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_groups_client::cos_load_balancing as lb;
use punctual_groups_client::portable_group as pg;
use punctual_groups_client::punctual_groups as own;
use punctual_host::store::StoreError;

use crate::ft;

/// Reason for refusing an operation: an exception of one of the interfaces.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    ObjectGroupNotFound(pg::ObjectGroupNotFound),
    MemberNotFound(pg::MemberNotFound),
    ObjectNotFound(pg::ObjectNotFound),
    MemberAlreadyPresent(pg::MemberAlreadyPresent),
    ObjectNotCreated(pg::ObjectNotCreated),
    ObjectNotAdded(pg::ObjectNotAdded),
    UnsupportedProperty(pg::UnsupportedProperty),
    InvalidProperty(pg::InvalidProperty),
    NoFactory(pg::NoFactory),
    InvalidCriteria(pg::InvalidCriteria),
    CannotMeetCriteria(pg::CannotMeetCriteria),
    PrimaryNotSet(ft::PrimaryNotSet),
    BadReplicationStyle(ft::BadReplicationStyle),
    InterfaceNotFound(ft::InterfaceNotFound),
    LocationNotFound(lb::LocationNotFound),
    LoadAlertNotFound(lb::LoadAlertNotFound),
    LoadAlertAlreadyPresent(lb::LoadAlertAlreadyPresent),
    MonitorAlreadyPresent(lb::MonitorAlreadyPresent),
    NotPrimary(own::NotPrimary),
    NoState(own::NoState),
    StateNeeded(own::StateNeeded),
    Refused(own::Refused),
    System(SystemException),
}

pub(crate) type Refused<T> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn no_group() -> Self {
        Self::ObjectGroupNotFound(pg::ObjectGroupNotFound)
    }

    pub(crate) fn no_member() -> Self {
        Self::MemberNotFound(pg::MemberNotFound)
    }

    pub(crate) fn bad_parameter(why: impl Into<String>) -> Self {
        Self::System(Kind::BadParam.because(why.into()))
    }

    pub(crate) fn limit(what: &str) -> Self {
        Self::System(Kind::ImpLimit.because(format!("the limit of {what} is reached")))
    }

    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(own::Refused {
            reason: reason.into(),
        })
    }

    pub(crate) fn state_needed(reason: impl Into<String>) -> Self {
        Self::StateNeeded(own::StateNeeded {
            reason: reason.into(),
        })
    }

    /// Returns the exception of an operation that does not raise this refusal.
    fn system(self) -> SystemException {
        match self {
            Self::System(exception) => exception,
            other => Kind::BadParam.because(format!("{other:?}")),
        }
    }

    /// Returns the reason as text, for operations that raise one exception with a reason.
    pub(crate) fn into_refused(self) -> Self {
        match self {
            Self::System(_) | Self::Refused(_) | Self::ObjectGroupNotFound(_) => self,
            Self::UnsupportedProperty(one) => {
                let name = crate::names::text(&one.nam);
                Self::refused(format!("the property {name} or its value is not supported"))
            }
            Self::InvalidProperty(one) => {
                let name = crate::names::text(&one.nam);
                Self::refused(format!("the property {name} has an invalid value"))
            }
            other => Self::refused(format!("{other:?}")),
        }
    }
}

impl From<SystemException> for Refusal {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// PERSIST_STORE: COMPLETED_MAYBE if the store has not said whether the change is stored.
impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let completed = match &error {
            StoreError::Unknown(_) => CompletionStatus::Maybe,
            _ => CompletionStatus::No,
        };
        let why = format!("the change cannot be stored: {error}");
        Self::System(Kind::PersistStore.because(why).completed_as(completed))
    }
}

impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        refusal.system()
    }
}

macro_rules! raises {
    ($($error:ty: $($variant:ident)*;)*) => {
        $(
            impl From<Refusal> for $error {
                fn from(refusal: Refusal) -> Self {
                    match refusal {
                        $(Refusal::$variant(raised) => Self::$variant(raised),)*
                        other => Self::System(other.system()),
                    }
                }
            }
        )*
    };
}

raises! {
    pg::PropertyManagerSetDefaultPropertiesError: InvalidProperty UnsupportedProperty;
    pg::PropertyManagerRemoveDefaultPropertiesError: InvalidProperty UnsupportedProperty;
    pg::PropertyManagerSetTypePropertiesError: InvalidProperty UnsupportedProperty;
    pg::PropertyManagerRemoveTypePropertiesError: InvalidProperty UnsupportedProperty;
    pg::PropertyManagerSetPropertiesDynamicallyError: ObjectGroupNotFound InvalidProperty UnsupportedProperty;
    pg::PropertyManagerGetPropertiesError: ObjectGroupNotFound;
    pg::ObjectGroupManagerCreateMemberError:
        ObjectGroupNotFound MemberAlreadyPresent NoFactory ObjectNotCreated InvalidCriteria CannotMeetCriteria;
    pg::ObjectGroupManagerAddMemberError: ObjectGroupNotFound MemberAlreadyPresent ObjectNotAdded;
    pg::ObjectGroupManagerRemoveMemberError: ObjectGroupNotFound MemberNotFound;
    pg::ObjectGroupManagerLocationsOfMembersError: ObjectGroupNotFound;
    pg::ObjectGroupManagerGetObjectGroupIdError: ObjectGroupNotFound;
    pg::ObjectGroupManagerGetObjectGroupRefError: ObjectGroupNotFound;
    pg::ObjectGroupManagerGetObjectGroupRefFromIdError: ObjectGroupNotFound;
    pg::ObjectGroupManagerGetMemberRefError: ObjectGroupNotFound MemberNotFound;
    pg::GenericFactoryCreateObjectError:
        NoFactory ObjectNotCreated InvalidCriteria InvalidProperty CannotMeetCriteria;
    pg::GenericFactoryDeleteObjectError: ObjectNotFound;
    ft::FtObjectGroupManagerSetPrimaryMemberError:
        ObjectGroupNotFound MemberNotFound PrimaryNotSet BadReplicationStyle;
    ft::ReplicationManagerGetFaultNotifierError: InterfaceNotFound;
    lb::LoadManagerGetLoadsError: LocationNotFound;
    lb::LoadManagerEnableAlertError: LoadAlertNotFound;
    lb::LoadManagerDisableAlertError: LoadAlertNotFound;
    lb::LoadManagerRegisterLoadAlertError: LoadAlertAlreadyPresent;
    lb::LoadManagerGetLoadAlertError: LoadAlertNotFound;
    lb::LoadManagerRemoveLoadAlertError: LoadAlertNotFound;
    lb::LoadManagerRegisterLoadMonitorError: MonitorAlreadyPresent;
    lb::LoadManagerGetLoadMonitorError: LocationNotFound;
    lb::LoadManagerRemoveLoadMonitorError: LocationNotFound;
    own::AdministrationJoinError: ObjectGroupNotFound Refused;
    own::AdministrationRenewError: ObjectGroupNotFound MemberNotFound;
    own::AdministrationLeaveError: ObjectGroupNotFound MemberNotFound;
    own::AdministrationStoreStateError: ObjectGroupNotFound MemberNotFound NotPrimary Refused;
    own::AdministrationStoreUpdateError: ObjectGroupNotFound MemberNotFound NotPrimary StateNeeded Refused;
    own::AdministrationStoredStateError: ObjectGroupNotFound NoState;
    own::AdministrationStoredUpdatesError: ObjectGroupNotFound NoState;
    own::AdministrationCreateGroupError: Refused;
    own::AdministrationRemoveGroupError: ObjectGroupNotFound;
    own::AdministrationAdoptGroupError: Refused;
    own::AdministrationReportError: ObjectGroupNotFound MemberNotFound;
    own::AdministrationDrainError: ObjectGroupNotFound MemberNotFound;
}
