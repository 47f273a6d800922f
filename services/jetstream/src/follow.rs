//! Task of a reader: gets events, sends acknowledgements, tells the servers that events are still
//! held.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Subject;
use async_nats::jetstream::consumer::pull::MessagesErrorKind;
use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::{FutureExt, StreamExt};
use punctual_durable::{Delivery, DurableError, Position};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use crate::connection::{Connection, RequestError, code};
use crate::held::{Event, Held};
use crate::message::properties;
use crate::shared::ReaderLimits;

/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Time before the first question to the servers, while something depends on the answer; each further time is twice as long.
const LOOK: Duration = Duration::from_millis(20);

/// Longest time between these questions.
const LONGEST_LOOK: Duration = Duration::from_millis(500);

/// Longest time after which a request for events is sent again. Until then, the servers may hand events to a process that
/// was stopped.
const EXPIRES: Duration = Duration::from_secs(30);

/// Shortest time of that.
const SHORTEST: Duration = Duration::from_secs(1);

/// Number of times that the servers wait for acknowledgements before events are handed out though some that were delivered
/// before have not come again: another process has them. A new leader of a cluster is late with them.
const WAITS: u32 = 4;

/// Interval of the servers' signs of life while there are no events.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Orders of a reader's handle.
#[derive(Debug)]
pub(crate) enum Order {
    Acknowledge(Vec<Subject>),
    /// Wait until the servers have all acknowledgements.
    Flush(oneshot::Sender<Result<(), DurableError>>),
    /// Give everything back, and end.
    Close(oneshot::Sender<()>),
}

/// Task of a reader.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) connection: Connection,
    pub(crate) held: Arc<Held>,
    pub(crate) limits: ReaderLimits,
    /// Stream and consumer, as in subjects of requests: `STREAM.CONSUMER`.
    pub(crate) path: String,
    /// Acknowledgements that were sent and may have been lost with a connection.
    unconfirmed: Vec<Subject>,
    /// Callers that wait until the servers have all acknowledgements.
    flushes: Vec<Flush>,
    /// Latest moment until which events wait for others before them; `None` while none does.
    waits_until: Option<Instant>,
}

/// Events that are delivered and not acknowledged, as the servers have it.
#[derive(Debug)]
struct Pending {
    /// Number of these events.
    events: u64,
    /// Position up to which all events are acknowledged.
    acknowledged: u64,
    /// Position of the last event that was delivered.
    delivered: u64,
}

/// Caller that waits for acknowledgements to arrive.
#[derive(Debug)]
struct Flush {
    done: oneshot::Sender<Result<(), DurableError>>,
    end: Instant,
}

impl Follower {
    pub(crate) fn new(
        connection: Connection,
        held: Arc<Held>,
        limits: ReaderLimits,
        path: String,
    ) -> Self {
        Self {
            connection,
            held,
            limits,
            path,
            unconfirmed: Vec::new(),
            flushes: Vec::new(),
            waits_until: None,
        }
    }

    /// Runs until the reader is closed.
    pub(crate) async fn run(
        mut self,
        consumer: PullConsumer,
        mut orders: mpsc::UnboundedReceiver<Order>,
    ) {
        let sign = self.limits.acknowledge_wait / 3;
        let mut busy = interval(sign.max(Duration::from_millis(1)));
        busy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut pause, mut next_look) = (LOOK, Instant::now());
        let mut connects = self.connection.connects.clone();
        let mut events = None;
        loop {
            if events.is_none() && !self.held.is_removed() {
                events = self.pull(&consumer).await;
            }
            let looks = self.held.waits_for_others() || !self.flushes.is_empty();
            if !looks {
                (pause, next_look) = (LOOK, Instant::now() + LOOK);
            }
            let next = async {
                match &mut events {
                    Some(events) => events.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = next => match event {
                    Some(Ok(message)) => self.receive(&message).await,
                    Some(Err(error)) if error.kind() == MessagesErrorKind::MissingHeartbeat => {
                        self.check_exists().await;
                    }
                    Some(Err(error)) => {
                        tracing::debug!("reader {}: {error}", self.path);
                        events = None;
                        self.check_exists().await;
                        tokio::time::sleep(PAUSE).await;
                    }
                    None => events = None,
                },
                order = orders.recv() => match order {
                    Some(Order::Acknowledge(replies)) => self.acknowledge(replies).await,
                    Some(Order::Flush(done)) => self.flushes.push(Flush {
                        done,
                        end: Instant::now() + self.connection.patience,
                    }),
                    Some(Order::Close(done)) => {
                        drop(events);
                        self.give_back().await;
                        let _ = done.send(());
                        return;
                    }
                    None => return,
                },
                _ = busy.tick() => self.send(self.held.replies(), AckKind::Progress).await,
                () = sleep_until(next_look), if looks => {
                    self.look(&mut events).await;
                    pause = (2 * pause).min(LONGEST_LOOK);
                    next_look = Instant::now() + pause;
                }
                Ok(()) = connects.changed() => {
                    let again = std::mem::take(&mut self.unconfirmed);
                    self.acknowledge(again).await;
                }
            }
        }
    }

    /// Begins to get events; returns `None` if that fails now.
    async fn pull(&self, consumer: &PullConsumer) -> Option<pull::Stream> {
        let expires = self.limits.acknowledge_wait.clamp(SHORTEST, EXPIRES);
        let stream = consumer.stream().max_messages_per_batch(self.limits.window);
        let stream = stream
            .expires(expires)
            .heartbeat(HEARTBEAT.min(expires / 2))
            .messages();
        match timeout(self.connection.patience, stream).await {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => tracing::debug!("reader {}: {error}", self.path),
            Err(_) => tracing::debug!("reader {}: the connection is cut off", self.path),
        }
        self.check_exists().await;
        tokio::time::sleep(PAUSE).await;
        None
    }

    /// Notes that the reader was removed, if the servers say that it, or its log, is not there. Another
    /// process may have removed it.
    async fn check_exists(&self) {
        if !self.connection.is_made() {
            return;
        }
        if let Err(error) = self.info().await
            && [code::CONSUMER_NOT_FOUND, code::STREAM_NOT_FOUND]
                .iter()
                .any(|one| error.has_code(*one))
        {
            self.held.remove();
        }
    }

    async fn receive(&mut self, message: &Message) {
        let (Ok(info), Some(reply)) = (message.info(), message.reply.clone()) else {
            return;
        };
        let properties = properties(message.headers.as_ref());
        let delivery = Delivery {
            position: Position(info.stream_sequence),
            bytes: message.payload.clone(),
            id: properties.id,
            expires: properties.expires,
            priority: properties.priority,
            is_repeated: info.delivered > 1,
        };
        if let Some(reply) = self.held.add(Event { delivery, reply }) {
            self.acknowledge(vec![reply]).await;
        }
    }

    async fn acknowledge(&mut self, replies: Vec<Subject>) {
        self.send(replies.clone(), AckKind::Ack).await;
        self.unconfirmed.extend(replies);
        let beyond = self
            .unconfirmed
            .len()
            .saturating_sub(2 * self.limits.window);
        self.unconfirmed.drain(..beyond);
    }

    /// Sends answers to events. Without a connection they would wait for one, and orders for them.
    async fn send(&self, replies: Vec<Subject>, kind: AckKind) {
        let payload: bytes::Bytes = kind.into();
        let sending = async {
            for reply in replies {
                if !self.connection.is_made() {
                    return;
                }
                let _ = self.connection.client.publish(reply, payload.clone()).await;
            }
        };
        // What is lost is sent again, or the event comes again.
        let _ = timeout(self.connection.patience, sending).await;
    }

    /// Looks if the servers know of no event that is delivered and neither held nor acknowledged. Then all
    /// acknowledgements have arrived, and so have the events that another process has left, or that were lost.
    async fn look(&mut self, events: &mut Option<pull::Stream>) {
        let pending = self.pending().await;
        // What was delivered before the answer is held, too.
        while let Some(next) = events
            .as_mut()
            .and_then(|events| events.next().now_or_never())
        {
            match next {
                Some(Ok(message)) => self.receive(&message).await,
                _ => *events = None,
            }
        }
        let now = Instant::now();
        let is_settled = pending.as_ref().is_ok_and(|pending| {
            // A new leader of a cluster may not know of the latest deliveries, which are none of the pending ones then.
            let held = self
                .held
                .count(pending.acknowledged + 1..=pending.delivered);
            pending.events <= held as u64
        });
        if let Ok(pending) = &pending {
            self.held.complete(match is_settled {
                true => pending.delivered,
                false => pending.acknowledged,
            });
        }
        self.wait_for_others(&pending, now);
        if is_settled {
            self.unconfirmed.clear();
        }
        let is_done = |flush: &mut Flush| is_settled || flush.end <= now;
        for flush in self.flushes.extract_if(.., is_done) {
            let reason = match &pending {
                Ok(_) => "acknowledgements are not confirmed".to_owned(),
                Err(error) => error.to_string(),
            };
            let outcome = if is_settled {
                Ok(())
            } else {
                Err(DurableError::Away(reason))
            };
            // The caller waits for it.
            let _ = flush.done.send(outcome);
        }
    }

    /// Hands events out that have waited too long for others before them: another process has those.
    fn wait_for_others(&mut self, pending: &Result<Pending, RequestError>, now: Instant) {
        if !self.held.waits_for_others() {
            self.waits_until = None;
            return;
        }
        let latest = now + self.limits.acknowledge_wait * WAITS;
        let end = *self.waits_until.get_or_insert(latest);
        match pending {
            // None come again while the servers do not answer.
            Err(_) => self.waits_until = Some(latest),
            Ok(pending) if end <= now && self.held.keeps_order() => {
                tracing::warn!(
                    "reader {}: events wait for others before them, which another process may have: {pending:?}",
                    self.path
                );
                self.waits_until = Some(latest);
            }
            Ok(pending) if end <= now => {
                let missing = self.held.give_up_missing();
                tracing::warn!(
                    "reader {}: events are handed out before {missing} of lower positions, which have not come again: {pending:?}",
                    self.path
                );
                self.waits_until = None;
            }
            Ok(_) => {}
        }
    }

    /// Returns what is delivered and not acknowledged, as the servers have it.
    async fn pending(&self) -> Result<Pending, RequestError> {
        let info = self.info().await?;
        let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
        Ok(Pending {
            events: number(&info["num_ack_pending"]),
            acknowledged: number(&info["ack_floor"]["stream_seq"]),
            delivered: number(&info["delivered"]["stream_seq"]),
        })
    }

    async fn info(&self) -> Result<serde_json::Value, RequestError> {
        let subject = format!("CONSUMER.INFO.{}", self.path);
        self.connection.request(subject).await
    }

    /// Gives all events back, so that another reader gets them at once.
    async fn give_back(&self) {
        self.send(self.held.replies(), AckKind::Nak(None)).await;
        if self.connection.is_made() {
            let _ = timeout(self.connection.patience, self.connection.client.flush()).await;
        }
    }
}
