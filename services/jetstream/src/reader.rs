//! Readers: durable pull consumers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::ConsumerErrorKind;
use bytes::Bytes;
use punctual_durable::{Delivery, DurableError, Most, Name, Position, Reader, Wake};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::connection::{Connection, code, refused};
use crate::follow::{Follower, Order};
use crate::held::Held;
use crate::runtime::Runtime;
use crate::shared::{LogAccess, LogShared, ReaderLimits};

type Result<T> = std::result::Result<T, DurableError>;

/// Reader of a log.
pub(crate) struct JetReader {
    runtime: Arc<Runtime>,
    connection: Connection,
    log: LogShared,
    name: Name,
    held: Arc<Held>,
    orders: mpsc::UnboundedSender<Order>,
}

impl fmt::Debug for JetReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reader {} of {:?}", self.name, self.log)
    }
}

impl JetReader {
    /// Opens a reader, whose consumer is made if need be, and starts its task.
    pub(crate) fn open(log: &LogAccess, name: Name, held: Arc<Held>) -> Result<Self> {
        let (send, orders) = mpsc::unbounded_channel();
        let path = format!("{}.{name}", log.shared.stream());
        let follower = Follower::new(log.connection.clone(), held.clone(), log.limits, path);
        let (connection, shared) = (log.connection.clone(), log.shared.clone());
        let config = config(&name, log.limits);
        let consumer = log
            .runtime
            .call(async move { opened(&connection, &shared, config).await })?;
        log.runtime.spawn(follower.run(consumer, orders));
        Ok(Self {
            runtime: log.runtime.clone(),
            connection: log.connection.clone(),
            log: log.shared.clone(),
            name,
            held,
            orders: send,
        })
    }

    fn order(&self, order: Order) {
        // The task ends with the runtime only, and then events come again to the next reader.
        let _ = self.orders.send(order);
    }

    fn acknowledge_all(&self, replies: Vec<async_nats::Subject>) {
        if !replies.is_empty() {
            self.order(Order::Acknowledge(replies));
        }
    }
}

fn config(name: &Name, limits: ReaderLimits) -> pull::Config {
    pull::Config {
        durable_name: Some(name.to_string()),
        deliver_policy: DeliverPolicy::New,
        ack_policy: AckPolicy::Explicit,
        ack_wait: limits.acknowledge_wait,
        max_ack_pending: i64::try_from(limits.window).unwrap_or(i64::MAX),
        ..pull::Config::default()
    }
}

/// Makes the consumer of a reader, or gives the one that exists these settings.
async fn opened(
    connection: &Connection,
    log: &LogShared,
    config: pull::Config,
) -> Result<PullConsumer> {
    let stream = connection.context.get_stream_no_info(log.stream()).await;
    let stream = stream.map_err(|error| DurableError::Away(error.to_string()))?;
    let mut attempts = connection.attempts();
    loop {
        let error = match stream.create_consumer(config.clone()).await {
            Ok(consumer) => return Ok(consumer),
            Err(error) => error,
        };
        attempts
            .again(match error.kind() {
                ConsumerErrorKind::JetStream(error)
                    if error.error_code().0 == code::STREAM_NOT_FOUND =>
                {
                    log.removed()
                }
                ConsumerErrorKind::JetStream(error) => refused(&error),
                _ => DurableError::Away(error.to_string()),
            })
            .await?;
    }
}

impl Reader for JetReader {
    fn fetch(&self, most: Most, patience: Duration) -> Result<Vec<Delivery>> {
        let end = std::time::Instant::now().checked_add(patience);
        loop {
            let left = end.map_or(Duration::MAX, |end| {
                end.saturating_duration_since(std::time::Instant::now())
            });
            let taken = self.held.take(most, left).map_err(|_| self.removed())?;
            self.log.note_expired(taken.expired.len());
            let has_expired = !taken.expired.is_empty();
            self.acknowledge_all(taken.expired);
            if !taken.deliveries.is_empty() || !has_expired {
                return Ok(taken.deliveries);
            }
        }
    }

    fn keep_order(&self) {
        self.held.keep_order();
    }

    fn floor(&self) -> Result<Option<Position>> {
        let info = self.info()?;
        let floor = |what: &str| info["ack_floor"][what].as_u64().unwrap_or(0);
        // Until then a cluster does not say where the consumer has begun.
        let is_known = floor("consumer_seq") > 0;
        Ok(is_known.then(|| Position(floor("stream_seq"))))
    }

    fn acknowledge(&self, positions: &[Position]) {
        self.acknowledge_all(self.held.acknowledge(positions));
    }

    fn give_back(&self, positions: &[Position]) {
        self.held.give_back(positions);
    }

    fn flush(&self) -> Result<()> {
        let (done, outcome) = oneshot::channel();
        self.order(Order::Flush(done));
        let closed = || Err(DurableError::Away("the connection was closed".to_owned()));
        let outcome = self.runtime.wait(outcome).and_then(std::result::Result::ok);
        outcome.unwrap_or_else(closed)
    }

    fn wake_by(&self, wake: Wake) {
        self.held.wake_by(wake);
    }

    fn waiting(&self) -> Result<u64> {
        let info = self.info()?;
        let number = |field: &str| info[field].as_u64().unwrap_or(0);
        Ok(number("num_pending") + number("num_ack_pending"))
    }
}

impl JetReader {
    /// Returns what the servers say of the consumer.
    fn info(&self) -> Result<serde_json::Value> {
        let subject = format!("CONSUMER.INFO.{}.{}", self.log.stream(), self.name);
        let connection = self.connection.clone();
        self.runtime
            .call(async move { connection.asked(subject, Bytes::new()).await })
    }

    fn removed(&self) -> DurableError {
        DurableError::Removed(format!("reader {} of log {}", self.name, self.log.name()))
    }
}

/// Gives back what is not acknowledged.
impl Drop for JetReader {
    fn drop(&mut self) {
        let (done, closed) = oneshot::channel();
        self.order(Order::Close(done));
        // Events that could not be given back in time come again after the servers have waited for them.
        let patience = self.connection.patience.saturating_mul(2);
        let _ = self.runtime.wait(async { timeout(patience, closed).await });
        self.log.close(&self.name);
    }
}
