//! Connection to the channel: a proxy that takes sequences of events.
//!
//! A push is made again until it has returned, so that nothing is lost while the service is started again. One that had
//! come through the first time is no second event: the service knows its id, and so does the manager.

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant};

use punctual::{Interface, NotNil, Orb};
use punctual_example_alarms::channel::{Failure, find};
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::{ClientType, SequenceProxyPushConsumer};

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Time after which a push is given up.
const LONGEST: Duration = Duration::from_secs(60);

/// Connected proxy.
#[derive(Debug)]
pub(crate) struct Supplier {
    orb: Orb,
    factory: String,
    channel: i32,
    proxy: SequenceProxyPushConsumer,
}

impl Supplier {
    /// Connects to a channel.
    pub(crate) fn connected(
        orb: &Orb,
        factory: &str,
        channel: i32,
    ) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            orb: orb.clone(),
            factory: factory.to_owned(),
            channel,
            proxy: proxy(orb, factory, channel)?,
        })
    }

    /// Pushes events; returns when the service has taken them.
    pub(crate) fn push(&mut self, events: &[StructuredEvent]) -> Result<(), Box<dyn Error>> {
        let begin = Instant::now();
        loop {
            let Err(error) = self.proxy.push_structured_events(events) else {
                return Ok(());
            };
            let failure = Failure::of(&error);
            if begin.elapsed() > LONGEST || failure == Failure::Refused {
                return Err(error.into());
            }
            if failure == Failure::Ended {
                self.proxy = proxy(&self.orb, &self.factory, self.channel)?;
            }
            sleep(PAUSE);
        }
    }

    /// Ends the connection.
    pub(crate) fn disconnect(&self) {
        // A service that has just gone ends it itself.
        let _ = self.proxy.disconnect_sequence_push_consumer();
    }
}

fn proxy(
    orb: &Orb,
    factory: &str,
    channel: i32,
) -> Result<SequenceProxyPushConsumer, Box<dyn Error>> {
    let admin = find(orb, factory, channel)?.default_supplier_admin()?;
    let obtained = admin
        .not_nil()?
        .obtain_notification_push_consumer(ClientType::SequenceEvent)?;
    let proxy = SequenceProxyPushConsumer::narrow(obtained.0.not_nil()?.as_object().clone())?;
    proxy.connect_sequence_push_supplier(None)?;
    Ok(proxy)
}
