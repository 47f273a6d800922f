//! Configuration under construction. Settings that are given in several parts are combined at the
//! end.

use super::words::Words;
use crate::config::concurrency::ConcurrencyOptions;
use crate::config::error::{ConfigError, bad_value};
use crate::config::orb_config::OrbConfig;
use crate::config::real_time::AboveHighest;
use punctual_link::iiop::KeepAlive;
use std::path::PathBuf;
use std::time::Duration;

/// Configuration, and the parts of settings that can only be checked together.
pub(super) struct Draft {
    pub(super) config: OrbConfig,
    pub(super) concurrency: ConcurrencyParts,
    pub(super) reservation: ReservationParts,
    pub(super) libraries: Libraries,
    /// TCP keep-alive parameters, used only if keep-alive is enabled.
    pub(super) keep_alive: KeepAlive,
}

/// Paths of the shared libraries to load.
#[derive(Default)]
pub(super) struct Libraries(pub(super) Vec<PathBuf>);

/// Options of a concurrency strategy, collected until all are read.
#[derive(Default, PartialEq)]
pub(super) struct ConcurrencyParts {
    pub(super) strategy: Option<String>,
    pub(super) threads: Option<usize>,
    pub(super) max_threads: Option<usize>,
    pub(super) reserve: Option<bool>,
}

/// Maximum reservation that clients may ask for, and the treatment of requests for more.
#[derive(Default)]
pub(super) struct ReservationParts {
    pub(super) runtime: Option<Duration>,
    pub(super) percent: Option<u32>,
    pub(super) above: Option<AboveHighest>,
}

impl Draft {
    /// Creates a draft configuration from a copy of `config`.
    pub(super) fn of(config: &OrbConfig) -> Self {
        Self {
            config: config.clone(),
            concurrency: ConcurrencyParts::default(),
            reservation: ReservationParts::default(),
            libraries: Libraries::default(),
            keep_alive: config.iiop.tcp.keep_alive.unwrap_or_default(),
        }
    }

    /// Combines the parts and returns the configuration.
    ///
    /// # Errors
    /// If parts contradict each other.
    pub(super) fn finish(mut self) -> Result<OrbConfig, ConfigError> {
        self.finish_concurrency()?;
        self.finish_reservation()?;
        self.config.libraries.append(&mut self.libraries.0);
        let keep_alive = &mut self.config.iiop.tcp.keep_alive;
        *keep_alive = keep_alive.map(|_| self.keep_alive);
        Ok(self.config)
    }

    fn finish_concurrency(&mut self) -> Result<(), ConfigError> {
        let parts = &self.concurrency;
        if *parts == ConcurrencyParts::default() {
            return Ok(());
        }
        let options = ConcurrencyOptions {
            strategy: parts.strategy.as_deref(),
            threads: parts.threads,
            max_threads: parts.max_threads,
            reserve: parts.reserve,
        };
        let strategy = self.config.concurrency.overridden_by(options);
        self.config.concurrency = strategy.map_err(|expected| {
            let strategy = parts.strategy.as_deref().unwrap_or("…");
            bad_value("concurrency", strategy, expected)
        })?;
        Ok(())
    }

    fn finish_reservation(&mut self) -> Result<(), ConfigError> {
        const TABLE: &str = "real_time.dynamic_scheduling";
        let parts = &self.reservation;
        let settings = &mut self.config.real_time.dynamic_scheduling;
        match (parts.runtime, parts.percent) {
            (None, None) => {}
            (Some(runtime), Some(percent)) => {
                settings.get_or_insert_default().most_reserved = Some((runtime, percent));
            }
            (Some(runtime), None) => {
                let key = format!("{TABLE}.reservation_runtime_us");
                let expected = "reservation_percent beside it";
                return Err(bad_value(key, runtime.as_micros(), expected));
            }
            (None, Some(percent)) => {
                let key = format!("{TABLE}.reservation_percent");
                let expected = "reservation_runtime_us beside it";
                return Err(bad_value(key, percent, expected));
            }
        }
        if let Some(above) = parts.above {
            let settings = settings.get_or_insert_default();
            if settings.most_reserved.is_none() {
                let key = format!("{TABLE}.above_reservation");
                let expected = "reservation_runtime_us and reservation_percent beside it";
                let word = above.word().unwrap_or_default();
                return Err(bad_value(key, word, expected));
            }
            settings.above_reservation = Some(above);
        }
        Ok(())
    }
}
