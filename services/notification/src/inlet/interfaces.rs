//! Interfaces of each kind of proxy of a supplier.

use punctual::{Any, Interface, SystemException};

use super::core::Inlet;
use crate::client::{Client, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_event_channel_admin::AlreadyConnected;
use crate::cos_event_comm::{
    Disconnected, PullConsumerServant, PullSupplier, PushConsumerPushError, PushConsumerServant,
    PushSupplier,
};
use crate::cos_notification::StructuredEvent;
use crate::cos_notify_channel_admin as admin;
use crate::cos_notify_channel_admin::{
    ConnectionAlreadyActive, ConnectionAlreadyInactive, NotConnected,
};
use crate::cos_notify_comm as comm;
use crate::event::Event;
use crate::refusal::Refusal;

impl Inlet {
    /// Connects a supplier that may be nil only if it pushes.
    fn connect_to(&self, supplier: Option<&impl Interface>) -> Result<(), Refusal> {
        let client = supplier.map(|one| Client::new(one, self.base.form, self.base.style));
        if client.is_none() && self.base.style == Style::Pull {
            return Err(Refusal::Nil("supplier"));
        }
        self.connect(client)
    }

    fn disconnect(&self) -> Result<(), SystemException> {
        self.base.prepare_end()?;
        match self.finish(true) {
            true => Ok(()),
            false => Err(Refusal::Disconnected.into()),
        }
    }
}

/// Evaluates to the exception of a refusal, where one of them has an exception of the operation's.
macro_rules! raised {
    ($outcome:expr, $refusal:ident => $exception:expr) => {
        $outcome.map_err(|refusal| match refusal {
            Refusal::$refusal => $exception.into(),
            other => SystemException::from(other).into(),
        })
    };
}

/// Implements suspending and resuming for proxies that pull.
macro_rules! suspending {
    ($suspend_error:ty, $resume_error:ty) => {
        fn suspend_connection(&self) -> Result<(), $suspend_error> {
            match self.base.connection.is_connected() {
                false => Err(NotConnected.into()),
                true if self.suspend()? => Ok(()),
                true => Err(ConnectionAlreadyInactive.into()),
            }
        }

        fn resume_connection(&self) -> Result<(), $resume_error> {
            match self.base.connection.is_connected() {
                false => Err(NotConnected.into()),
                true if self.resume()? => Ok(()),
                true => Err(ConnectionAlreadyActive.into()),
            }
        }
    };
}

impl PushConsumerServant for Inlet {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        raised!(self.publish([Event::of_any(data)]), Disconnected => Disconnected)
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl comm::PushConsumerServant for Inlet {}

impl event_admin::ProxyPushConsumerServant for Inlet {
    fn connect_push_supplier(
        &self,
        push_supplier: Option<&PushSupplier>,
    ) -> Result<(), event_admin::ProxyPushConsumerConnectPushSupplierError> {
        raised!(self.connect_to(push_supplier), AlreadyConnected => AlreadyConnected)
    }
}

impl admin::ProxyPushConsumerServant for Inlet {
    fn connect_any_push_supplier(
        &self,
        push_supplier: Option<&PushSupplier>,
    ) -> Result<(), admin::ProxyPushConsumerConnectAnyPushSupplierError> {
        raised!(self.connect_to(push_supplier), AlreadyConnected => AlreadyConnected)
    }
}

impl comm::StructuredPushConsumerServant for Inlet {
    fn push_structured_event(
        &self,
        notification: &StructuredEvent,
    ) -> Result<(), comm::StructuredPushConsumerPushStructuredEventError> {
        let event = Event::of_structured(notification.clone());
        raised!(self.publish([event]), Disconnected => Disconnected)
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl admin::StructuredProxyPushConsumerServant for Inlet {
    fn connect_structured_push_supplier(
        &self,
        push_supplier: Option<&comm::StructuredPushSupplier>,
    ) -> Result<(), admin::StructuredProxyPushConsumerConnectStructuredPushSupplierError> {
        raised!(self.connect_to(push_supplier), AlreadyConnected => AlreadyConnected)
    }
}

impl comm::SequencePushConsumerServant for Inlet {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), comm::SequencePushConsumerPushStructuredEventsError> {
        // The first event that is refused ends the batch: those before it have been taken.
        let events = notifications.iter().cloned().map(Event::of_structured);
        raised!(self.publish(events), Disconnected => Disconnected)
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl admin::SequenceProxyPushConsumerServant for Inlet {
    fn connect_sequence_push_supplier(
        &self,
        push_supplier: Option<&comm::SequencePushSupplier>,
    ) -> Result<(), admin::SequenceProxyPushConsumerConnectSequencePushSupplierError> {
        raised!(self.connect_to(push_supplier), AlreadyConnected => AlreadyConnected)
    }
}

impl PullConsumerServant for Inlet {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl comm::PullConsumerServant for Inlet {}

impl event_admin::ProxyPullConsumerServant for Inlet {
    fn connect_pull_supplier(
        &self,
        pull_supplier: Option<&PullSupplier>,
    ) -> Result<(), event_admin::ProxyPullConsumerConnectPullSupplierError> {
        raised!(self.connect_to(pull_supplier), AlreadyConnected => AlreadyConnected)
    }
}

impl admin::ProxyPullConsumerServant for Inlet {
    fn connect_any_pull_supplier(
        &self,
        pull_supplier: Option<&PullSupplier>,
    ) -> Result<(), admin::ProxyPullConsumerConnectAnyPullSupplierError> {
        raised!(self.connect_to(pull_supplier), AlreadyConnected => AlreadyConnected)
    }

    suspending!(
        admin::ProxyPullConsumerSuspendConnectionError,
        admin::ProxyPullConsumerResumeConnectionError
    );
}

impl comm::StructuredPullConsumerServant for Inlet {
    fn disconnect_structured_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl admin::StructuredProxyPullConsumerServant for Inlet {
    fn connect_structured_pull_supplier(
        &self,
        pull_supplier: Option<&comm::StructuredPullSupplier>,
    ) -> Result<(), admin::StructuredProxyPullConsumerConnectStructuredPullSupplierError> {
        raised!(self.connect_to(pull_supplier), AlreadyConnected => AlreadyConnected)
    }

    suspending!(
        admin::StructuredProxyPullConsumerSuspendConnectionError,
        admin::StructuredProxyPullConsumerResumeConnectionError
    );
}

impl comm::SequencePullConsumerServant for Inlet {
    fn disconnect_sequence_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect()
    }
}

impl admin::SequenceProxyPullConsumerServant for Inlet {
    fn connect_sequence_pull_supplier(
        &self,
        pull_supplier: Option<&comm::SequencePullSupplier>,
    ) -> Result<(), admin::SequenceProxyPullConsumerConnectSequencePullSupplierError> {
        raised!(self.connect_to(pull_supplier), AlreadyConnected => AlreadyConnected)
    }

    suspending!(
        admin::SequenceProxyPullConsumerSuspendConnectionError,
        admin::SequenceProxyPullConsumerResumeConnectionError
    );
}
