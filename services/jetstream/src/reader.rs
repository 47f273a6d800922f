//! Readers: durable pull consumers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use punctual_durable::{Delivery, DurableError, Most, Name, Position, Reader, Wake};
use tokio::sync::{mpsc, oneshot};

use crate::connection::Connection;
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
        let (connection, stream) = (log.connection.clone(), log.shared.stream().to_owned());
        let (config, consumer) = (config(&name, log.limits), name.clone());
        // From the start, so that no fetch comes before what another process has left.
        held.gather(true);
        let consumer = log
            .runtime
            .call(async move { opened(&connection, &stream, consumer.as_str(), config).await })?;
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
        max_ack_pending: i64::try_from(limits.window.max(1)).unwrap_or(i64::MAX),
        ..pull::Config::default()
    }
}

async fn opened(
    connection: &Connection,
    stream: &str,
    name: &str,
    config: pull::Config,
) -> Result<PullConsumer> {
    let away = |error: &dyn fmt::Display| DurableError::Away(error.to_string());
    let stream = connection.context.get_stream_no_info(stream).await;
    let stream = stream.map_err(|error| away(&error))?;
    let consumer = stream.get_or_create_consumer(name, config).await;
    consumer.map_err(|error| away(&error))
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
        outcome.blocking_recv().unwrap_or_else(|_| closed())
    }

    fn wake_by(&self, wake: Wake) {
        self.held.wake_by(wake);
    }

    fn waiting(&self) -> Result<u64> {
        let subject = format!("CONSUMER.INFO.{}.{}", self.log.stream(), self.name);
        let connection = self.connection.clone();
        let info = self
            .runtime
            .call(async move { Ok(connection.request(subject).await?) })?;
        let number = |field: &str| info[field].as_u64().unwrap_or(0);
        Ok(number("num_pending") + number("num_ack_pending"))
    }
}

impl JetReader {
    fn removed(&self) -> DurableError {
        DurableError::Removed(format!("reader {} of log {}", self.name, self.log.name()))
    }
}

/// Gives back what is not acknowledged.
impl Drop for JetReader {
    fn drop(&mut self) {
        let (done, closed) = oneshot::channel();
        self.order(Order::Close(done));
        // It fails only with the runtime.
        let _ = closed.blocking_recv();
        self.log.close(&self.name);
    }
}
