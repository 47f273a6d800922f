//! Tails that the page shows, each kept while somebody looks at it.

use parking_lot::Mutex;
use punctual::Any;
use punctual::json::Json;
use punctual_constraint::{Constraint, Grammar, Limits};
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::{NotificationService, Tail};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Most tails at a time.
const MOST: usize = 8;

/// Time without a look after which a tail ends.
const UNSEEN: Duration = Duration::from_secs(30);

/// Limits on constraints of the page, which suppliers wait for.
const LIMITS: Limits = Limits {
    length: 4_096,
    depth: 20,
    steps: 10_000,
};

/// Tails by channel and constraint.
pub(super) struct Tails {
    service: NotificationService,
    tails: Mutex<HashMap<(i32, String), Seen>>,
}

struct Seen {
    tail: Tail,
    at: Instant,
}

/// Latest events as JSON, the newest first, and the number of all that came; or why there are none.
pub(super) type Look = Result<(Vec<String>, u64), String>;

impl Tails {
    pub(super) fn new(service: NotificationService) -> Self {
        Self {
            service,
            tails: Mutex::default(),
        }
    }

    /// Returns the latest events of a channel that meet a constraint, from the first look on.
    pub(super) fn look(&self, channel: i32, text: &str) -> Look {
        let key = (channel, text.to_owned());
        let mut tails = self.tails.lock();
        if let Some(seen) = tails.get_mut(&key) {
            seen.at = Instant::now();
            return Ok(as_json(&seen.tail));
        }
        if tails.len() >= MOST {
            return Err("Too many tails are looked at.".to_owned());
        }
        let constraint = Constraint::compile(Grammar::ExtendedTcl, text, &LIMITS);
        let constraint = constraint.map_err(|mistake| mistake.render(false))?;
        let tail = self.service.tail(channel, constraint);
        let tail = tail.ok_or("There is no such channel any more.")?;
        let at = Instant::now();
        let look = as_json(&tail);
        tails.insert(key, Seen { tail, at });
        Ok(look)
    }

    /// Ends tails that have not been looked at for a while.
    pub(super) async fn end_when_unseen(&self) {
        loop {
            tokio::time::sleep(UNSEEN / 3).await;
            self.tails
                .lock()
                .retain(|_, seen| seen.at.elapsed() < UNSEEN);
        }
    }
}

fn as_json(tail: &Tail) -> (Vec<String>, u64) {
    let (events, count) = tail.latest();
    (events.iter().map(line).collect(), count)
}

/// Returns an event as JSON, or why it has no such form.
fn line(event: &StructuredEvent) -> String {
    let json = Any::new(event).map_err(|error| error.to_string());
    let json = json.and_then(|any| {
        let value = any.value().map_err(|error| error.to_string())?;
        let json = serde_json::to_string(&Json::new(any.type_code(), &value));
        json.map_err(|error| error.to_string())
    });
    json.unwrap_or_else(|error| format!("an event that cannot be shown: {error}"))
}
