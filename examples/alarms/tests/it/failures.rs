//! What failures say of a connection: only one that has ended is made again.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_example_alarms::channel::Failure;
use punctual_notification::cos_event_comm::Disconnected;
use punctual_notification::cos_notify_comm::SequencePullSupplierTryPullStructuredEventsError as Error;

#[test]
fn a_connection_is_made_again_only_if_the_service_says_that_it_has_ended() {
    let of = |kind| {
        let exception = SystemException::new(kind, 0, CompletionStatus::No);
        Failure::of(&Error::System(exception))
    };
    assert_eq!(
        Failure::of(&Error::Disconnected(Disconnected)),
        Failure::Ended
    );
    assert_eq!(of(Kind::ObjectNotExist), Failure::Ended);
    for away in [
        Kind::CommFailure,
        Kind::NoResponse,
        Kind::Timeout,
        Kind::Transient,
    ] {
        assert_eq!(of(away), Failure::Away);
    }
    for full in [Kind::PersistStore, Kind::ImpLimit] {
        assert_eq!(of(full), Failure::Full);
    }
    for refused in [
        Kind::Internal,
        Kind::Marshal,
        Kind::NoPermission,
        Kind::Unknown,
    ] {
        assert_eq!(of(refused), Failure::Refused);
    }
}
