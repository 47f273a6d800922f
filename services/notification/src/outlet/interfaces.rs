//! Interfaces of each kind of proxy of a consumer.

use punctual::{Any, Interface, Response, SystemException};

use super::call::Call;
use super::core::Outlet;
use crate::client::{Client, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_event_channel_admin::AlreadyConnected;
use crate::cos_event_comm::{
    PullConsumer, PullSupplierAmhServant, PullSupplierPullError, PullSupplierTryPullError,
    PushConsumer, PushSupplierAmhServant,
};
use crate::cos_notification::{EventBatch, StructuredEvent};
use crate::cos_notify_channel_admin as admin;
use crate::cos_notify_channel_admin::{
    ConnectionAlreadyActive, ConnectionAlreadyInactive, NotConnected,
};
use crate::cos_notify_comm as comm;
use crate::refusal::Refusal;

impl Outlet {
    /// Connects a consumer that may be nil only if it pulls.
    fn connect_to(&self, consumer: Option<&impl Interface>) -> Result<(), Refusal> {
        let client = consumer.map(|one| Client::new(one, self.base.form, self.base.style));
        if client.is_none() && self.base.style == Style::Push {
            return Err(Refusal::Nil("consumer"));
        }
        self.connect(client)
    }

    fn disconnect(&self, response: Response<()>) {
        let ended = match self.finish(true) {
            true => Ok(()),
            false => Err(Refusal::Disconnected),
        };
        let _ = response.answer(ended.map_err(SystemException::from));
    }

    fn pull_up_to(&self, most: i32) -> Result<usize, Refusal> {
        let most_of_all = self.base.common.limits.batch.max(1);
        let number = usize::try_from(most).ok().filter(|most| *most > 0);
        number
            .map(|most| most.min(most_of_all))
            .ok_or(Refusal::BadNumber(most))
    }
}

/// Answers a call that connects.
macro_rules! connect {
    ($outlet:expr, $response:expr, $consumer:expr) => {
        let _ = match $outlet.connect_to($consumer) {
            Ok(()) => $response.reply(()),
            Err(Refusal::AlreadyConnected) => $response.raise(AlreadyConnected),
            Err(other) => $response.fail(other),
        };
    };
}

/// Implements suspending and resuming for proxies that push.
macro_rules! suspending {
    ($suspend_error:ty, $resume_error:ty) => {
        fn suspend_connection(&self, response: Response<(), $suspend_error>) {
            let _ = match self.base.connection.is_connected() {
                false => response.raise(NotConnected),
                true if self.suspend() => response.reply(()),
                true => response.raise(ConnectionAlreadyInactive),
            };
        }

        fn resume_connection(&self, response: Response<(), $resume_error>) {
            let _ = match self.base.connection.is_connected() {
                false => response.raise(NotConnected),
                true if self.resume() => response.reply(()),
                true => response.raise(ConnectionAlreadyActive),
            };
        }
    };
}

impl PushSupplierAmhServant for Outlet {
    fn disconnect_push_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl comm::PushSupplierAmhServant for Outlet {}

impl event_admin::ProxyPushSupplierAmhServant for Outlet {
    fn connect_push_consumer(
        &self,
        response: Response<(), event_admin::ProxyPushSupplierConnectPushConsumerError>,
        push_consumer: Option<&PushConsumer>,
    ) {
        connect!(self, response, push_consumer);
    }
}

impl admin::ProxyPushSupplierAmhServant for Outlet {
    fn connect_any_push_consumer(
        &self,
        response: Response<(), admin::ProxyPushSupplierConnectAnyPushConsumerError>,
        push_consumer: Option<&PushConsumer>,
    ) {
        connect!(self, response, push_consumer);
    }

    suspending!(
        admin::ProxyPushSupplierSuspendConnectionError,
        admin::ProxyPushSupplierResumeConnectionError
    );
}

impl comm::StructuredPushSupplierAmhServant for Outlet {
    fn disconnect_structured_push_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl admin::StructuredProxyPushSupplierAmhServant for Outlet {
    fn connect_structured_push_consumer(
        &self,
        response: Response<
            (),
            admin::StructuredProxyPushSupplierConnectStructuredPushConsumerError,
        >,
        push_consumer: Option<&comm::StructuredPushConsumer>,
    ) {
        connect!(self, response, push_consumer);
    }

    suspending!(
        admin::StructuredProxyPushSupplierSuspendConnectionError,
        admin::StructuredProxyPushSupplierResumeConnectionError
    );
}

impl comm::SequencePushSupplierAmhServant for Outlet {
    fn disconnect_sequence_push_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl admin::SequenceProxyPushSupplierAmhServant for Outlet {
    fn connect_sequence_push_consumer(
        &self,
        response: Response<(), admin::SequenceProxyPushSupplierConnectSequencePushConsumerError>,
        push_consumer: Option<&comm::SequencePushConsumer>,
    ) {
        connect!(self, response, push_consumer);
    }

    suspending!(
        admin::SequenceProxyPushSupplierSuspendConnectionError,
        admin::SequenceProxyPushSupplierResumeConnectionError
    );
}

impl PullSupplierAmhServant for Outlet {
    fn pull(&self, response: Response<Any, PullSupplierPullError>) {
        self.called(Call::Any(response));
    }

    fn try_pull(&self, response: Response<(Any, bool), PullSupplierTryPullError>) {
        self.called(Call::TryAny(response));
    }

    fn disconnect_pull_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl comm::PullSupplierAmhServant for Outlet {}

impl event_admin::ProxyPullSupplierAmhServant for Outlet {
    fn connect_pull_consumer(
        &self,
        response: Response<(), event_admin::ProxyPullSupplierConnectPullConsumerError>,
        pull_consumer: Option<&PullConsumer>,
    ) {
        connect!(self, response, pull_consumer);
    }
}

impl admin::ProxyPullSupplierAmhServant for Outlet {
    fn connect_any_pull_consumer(
        &self,
        response: Response<(), admin::ProxyPullSupplierConnectAnyPullConsumerError>,
        pull_consumer: Option<&PullConsumer>,
    ) {
        connect!(self, response, pull_consumer);
    }
}

impl comm::StructuredPullSupplierAmhServant for Outlet {
    fn pull_structured_event(
        &self,
        response: Response<StructuredEvent, comm::StructuredPullSupplierPullStructuredEventError>,
    ) {
        self.called(Call::Structured(response));
    }

    fn try_pull_structured_event(
        &self,
        response: Response<
            (StructuredEvent, bool),
            comm::StructuredPullSupplierTryPullStructuredEventError,
        >,
    ) {
        self.called(Call::TryStructured(response));
    }

    fn disconnect_structured_pull_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl admin::StructuredProxyPullSupplierAmhServant for Outlet {
    fn connect_structured_pull_consumer(
        &self,
        response: Response<
            (),
            admin::StructuredProxyPullSupplierConnectStructuredPullConsumerError,
        >,
        pull_consumer: Option<&comm::StructuredPullConsumer>,
    ) {
        connect!(self, response, pull_consumer);
    }
}

impl comm::SequencePullSupplierAmhServant for Outlet {
    fn pull_structured_events(
        &self,
        response: Response<EventBatch, comm::SequencePullSupplierPullStructuredEventsError>,
        max_number: i32,
    ) {
        match self.pull_up_to(max_number) {
            Ok(most) => self.called(Call::Sequence(response, most)),
            Err(refusal) => drop(response.fail(refusal)),
        }
    }

    fn try_pull_structured_events(
        &self,
        response: Response<
            (EventBatch, bool),
            comm::SequencePullSupplierTryPullStructuredEventsError,
        >,
        max_number: i32,
    ) {
        match self.pull_up_to(max_number) {
            Ok(most) => self.called(Call::TrySequence(response, most)),
            Err(refusal) => drop(response.fail(refusal)),
        }
    }

    fn disconnect_sequence_pull_supplier(&self, response: Response<()>) {
        self.disconnect(response);
    }
}

impl admin::SequenceProxyPullSupplierAmhServant for Outlet {
    fn connect_sequence_pull_consumer(
        &self,
        response: Response<(), admin::SequenceProxyPullSupplierConnectSequencePullConsumerError>,
        pull_consumer: Option<&comm::SequencePullConsumer>,
    ) {
        connect!(self, response, pull_consumer);
    }
}
