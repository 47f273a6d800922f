//! Messages on subjects, pushed into a channel.

use super::carried::Carried;
use crate::call::Problem;
use crate::notify::channel::failed;
use crate::notify::push::connect;
use crate::notify::watch::is_away;
use crate::shown;
use punctual::OperationError;
use punctual_jetstream::BridgeMessage;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::{EventChannel, StructuredProxyPushConsumer};
use std::time::Duration;

/// Time before a push is repeated for the first time; then twice as long, up to the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Supplier of a channel.
#[derive(Debug)]
pub(super) struct Pusher {
    proxy: StructuredProxyPushConsumer,
    carried: Carried,
    /// Number of messages that were no events, or whose events the channel has refused.
    refused: u64,
}

impl Pusher {
    pub(super) fn connect(channel: &EventChannel, carried: Carried) -> Result<Self, Problem> {
        let proxy = connect(channel)?;
        Ok(Self {
            proxy,
            carried,
            refused: 0,
        })
    }

    /// Pushes the event of a message; repeats that while the channel is away, and until this is over.
    pub(super) fn push(&mut self, message: &BridgeMessage, is_over: &mut impl FnMut() -> bool) {
        match self.carried.event(message) {
            Ok(None) => {}
            Ok(Some(event)) => self.push_event(&event, is_over),
            Err(error) => self.refuse(&message.subject, &error),
        }
    }

    fn push_event(&mut self, event: &StructuredEvent, is_over: &mut impl FnMut() -> bool) {
        let mut pause = PAUSE;
        let mut waits = false;
        while let Err(error) = self.proxy.push_structured_event(event) {
            match error.system() {
                Some(exception) if is_away(exception) => {
                    if !std::mem::replace(&mut waits, true) {
                        eprintln!(
                            "the channel takes no event: {}",
                            shown::exception(exception)
                        );
                    }
                }
                _ => return self.refuse("an event", &error.to_string()),
            }
            if is_over() {
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        if waits {
            eprintln!("the channel takes events again");
        }
    }

    fn refuse(&mut self, what: &str, reason: &str) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            let (what, reason) = (shown::peer(what), shown::peer(reason));
            eprintln!(
                "{} messages were no events for the channel; {what}: {reason}",
                self.refused
            );
        }
    }

    /// Ends the connection.
    pub(super) fn end(self) -> Result<(), Problem> {
        let ended = self.proxy.disconnect_structured_push_consumer();
        ended.map_err(failed)
    }
}
