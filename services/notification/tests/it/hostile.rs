//! Clients that do everything at once, or in the middle of something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use punctual::{NotNil, SystemException};
use punctual_notification::cos_notification::{EventType, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    EventChannel, InterFilterGroupOperator as Operator, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm as comm;

use crate::support::{Program, Served, event, event_type, exists, until};

/// Consumer that disconnects itself by its first event.
struct Leaving {
    proxy: StructuredProxyPushSupplier,
    received: Arc<AtomicUsize>,
}

impl comm::NotifyPublishServant for Leaving {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl comm::StructuredPushConsumerServant for Leaving {
    fn push_structured_event(
        &self,
        _: &StructuredEvent,
    ) -> Result<(), comm::StructuredPushConsumerPushStructuredEventError> {
        self.received.fetch_add(1, Ordering::SeqCst);
        Ok(self.proxy.disconnect_structured_push_supplier()?)
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn a_consumer_may_disconnect_itself_while_it_is_pushed_to() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let received = Arc::new(AtomicUsize::new(0));
    let proxy = program.unconnected(&channel);
    let leaving = program.object(Leaving {
        proxy: proxy.clone(),
        received: received.clone(),
    });
    proxy
        .connect_structured_push_consumer(Some(&leaving))
        .unwrap();
    let (_, other) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(other.wait_for(3), [0, 1, 2]);
    until(|| !exists(&proxy));
    pushes.push_structured_event(&event(3)).unwrap();
    assert_eq!(other.wait_for(4), [0, 1, 2, 3]);
    assert_eq!(received.load(Ordering::SeqCst), 1);
}

/// Uses a channel in all ways until it is destroyed.
fn use_up<'s>(program: &'s Program, channel: EventChannel, scope: &'s std::thread::Scope<'s, '_>) {
    let (proxy, _) = program.sink(&channel);
    let (pushes, pulls) = (program.pushes_to(&channel), program.pulls_from(&channel));
    scope.spawn(move || while pushes.push_structured_event(&event(1)).is_ok() {});
    scope.spawn(move || while pulls.pull_structured_event().is_ok() {});
    scope.spawn(move || {
        let (one, all) = ([event_type("A", "1")], [event_type("*", "*")]);
        while proxy.subscription_change(&one, &[]).is_ok() {
            let _ = proxy.subscription_change(&all, &one);
        }
    });
    scope.spawn(move || {
        while let Ok((admin, _)) = channel.new_for_consumers(Operator::OrOp) {
            let _ = admin.not_nil().unwrap().destroy();
        }
    });
}

#[test]
fn channels_are_destroyed_at_once_while_all_their_clients_use_them() {
    let (served, program) = (Served::new(), Program::new());
    for _ in 0..10 {
        let channels = [served.channel(&[], &[]), served.channel(&[], &[])];
        let channels = channels.map(|channel| program.see(&channel));
        std::thread::scope(|scope| {
            for channel in &channels {
                use_up(&program, channel.clone(), scope);
            }
            for channel in &channels {
                scope.spawn(|| channel.destroy().unwrap());
            }
        });
    }
    assert_eq!(served.service.size(), (0, 0, 0));
}
