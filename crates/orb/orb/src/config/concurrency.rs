//! Concurrency strategy of an endpoint, in configurations.

use super::error::{ConfigError, bad_value};
use std::fmt;

/// Threads that serve an endpoint's connections (Schmidt et al. 2001, §5, and Gokhale and Schmidt
/// 1998, §4: the concurrency strategies).
///
/// Endpoint options `concurrency`, `threads`, `max_threads` and `reserve`:
/// `iiop://:2809/concurrency=leader_followers&threads=2&max_threads=8`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concurrency {
    /// A thread for each connection, which blocks in receiving. The fastest for few connections,
    /// and the only one for links that cannot be received from without blocking: shared memory,
    /// datagrams, those of plugins.
    #[default]
    ThreadPerConnection,
    /// One thread for the connections of all endpoints with this strategy, on `epoll`: upcalls run
    /// one after the other. An upcall that takes long keeps all others waiting.
    Reactive,
    /// A pool of threads that wait in `epoll` together, Leader/Followers: the thread that is woken
    /// serves the request.
    LeaderFollowers(PoolSize),
}

/// Size of a thread pool: initial and maximum number of threads, with an optional reserve thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// Number of threads that the pool starts with, at least 1. Default 1.
    pub threads: usize,
    /// Maximum number of threads. The pool grows to the number of processors when all its threads
    /// are busy, and further while upcalls have held up all of them for some 2 ms, blocked or
    /// computing. Without a reserve thread, which finds that out, it grows whenever all are busy.
    /// Default 16.
    pub most: usize,
    /// If true, one more thread refuses requests with TRANSIENT while all threads have been busy
    /// for some milliseconds; otherwise requests wait. Default true.
    pub reserve: bool,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self {
            threads: 1,
            most: 16,
            reserve: true,
        }
    }
}

/// Options for the concurrency strategy in a configuration, each optional.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConcurrencyOptions<'t> {
    pub(crate) strategy: Option<&'t str>,
    pub(crate) threads: Option<usize>,
    pub(crate) max_threads: Option<usize>,
    pub(crate) reserve: Option<bool>,
}

const THREAD_PER_CONNECTION: &str = "thread_per_connection";
const REACTIVE: &str = "reactive";
const LEADER_FOLLOWERS: &str = "leader_followers";

/// Maximum number of threads that one thread pool may be configured with.
const MOST_THREADS: usize = 4096;

/// Endpoint options that describe the strategy. They are not passed on to the link.
pub(crate) const OPTIONS: [&str; 4] = ["concurrency", "threads", "max_threads", "reserve"];

impl Concurrency {
    /// Returns this strategy, overridden by options of a configuration. The error lists the valid
    /// values.
    pub(crate) fn overridden_by(
        self,
        options: ConcurrencyOptions<'_>,
    ) -> Result<Self, &'static str> {
        let strategy = match options.strategy {
            None => self,
            Some(THREAD_PER_CONNECTION) => Self::ThreadPerConnection,
            Some(REACTIVE) => Self::Reactive,
            Some(LEADER_FOLLOWERS) => Self::LeaderFollowers(match self {
                Self::LeaderFollowers(size) => size,
                _ => PoolSize::default(),
            }),
            Some(_) => return Err("thread_per_connection, reactive or leader_followers"),
        };
        let sized =
            options.threads.is_some() || options.max_threads.is_some() || options.reserve.is_some();
        let Self::LeaderFollowers(mut size) = strategy else {
            return match sized {
                true => Err("threads, max_threads and reserve for leader_followers only"),
                false => Ok(strategy),
            };
        };
        size.threads = options.threads.unwrap_or(size.threads);
        size.most = options.max_threads.unwrap_or(size.most.max(size.threads));
        size.reserve = options.reserve.unwrap_or(size.reserve);
        if size.threads == 0 || size.most < size.threads || size.most > MOST_THREADS {
            return Err("1 to 4096 threads, and max_threads no fewer than threads");
        }
        Ok(Self::LeaderFollowers(size))
    }

    /// Parses the value of `-ORBConcurrency`: a strategy, then optional `name=value` pairs,
    /// separated by commas.
    pub(super) fn parse(key: &str, text: &str) -> Result<Self, ConfigError> {
        let (strategy, rest) = text.split_once(',').unwrap_or((text, ""));
        let parts = rest.split(',').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        let options = ConcurrencyOptions::of(pairs, Some(strategy));
        options
            .and_then(|options| Self::default().overridden_by(options))
            .map_err(|expected| bad_value(key, text, expected))
    }
}

impl<'t> ConcurrencyOptions<'t> {
    /// Extracts the options of the concurrency strategy from an endpoint's options.
    pub(crate) fn of(
        pairs: impl Iterator<Item = (&'t str, &'t str)>,
        strategy: Option<&'t str>,
    ) -> Result<Self, &'static str> {
        let mut options = Self {
            strategy,
            ..Self::default()
        };
        let number = |text: &str| text.parse::<usize>().map_err(|_| "a number of threads");
        for (name, value) in pairs {
            match name {
                "concurrency" => options.strategy = Some(value),
                "threads" => options.threads = Some(number(value)?),
                "max_threads" => options.max_threads = Some(number(value)?),
                "reserve" => {
                    options.reserve = Some(value.parse().map_err(|_| "true or false for reserve")?);
                }
                _ => return Err("threads, max_threads or reserve behind the strategy"),
            }
        }
        Ok(options)
    }

    /// Returns whether no option of the concurrency strategy is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.strategy.is_none()
            && self.threads.is_none()
            && self.max_threads.is_none()
            && self.reserve.is_none()
    }
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ThreadPerConnection => THREAD_PER_CONNECTION,
            Self::Reactive => REACTIVE,
            Self::LeaderFollowers(_) => LEADER_FOLLOWERS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Concurrency, String> {
        Concurrency::parse("-ORBConcurrency", text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_strategy_and_the_size_of_its_pool_are_read() {
        assert_eq!(
            parse("thread_per_connection"),
            Ok(Concurrency::ThreadPerConnection)
        );
        assert_eq!(parse("reactive"), Ok(Concurrency::Reactive));
        let size = PoolSize {
            threads: 20,
            most: 20,
            reserve: false,
        };
        assert_eq!(
            parse("leader_followers,threads=20,reserve=false"),
            Ok(Concurrency::LeaderFollowers(size))
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in [
            "",
            "pool",
            "reactive,threads=2",
            "leader_followers,threads=0",
            "leader_followers,threads=4,max_threads=3",
            "leader_followers,threads=many",
            "leader_followers,colour=red",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("-ORBConcurrency"), "{error}");
        }
    }

    #[test]
    fn an_endpoint_says_only_what_differs_from_the_default_of_all() {
        let all = parse("leader_followers,threads=3").unwrap();
        let options = ConcurrencyOptions {
            max_threads: Some(5),
            ..ConcurrencyOptions::default()
        };
        let size = PoolSize {
            threads: 3,
            most: 5,
            reserve: true,
        };
        assert_eq!(
            all.overridden_by(options),
            Ok(Concurrency::LeaderFollowers(size))
        );
        assert_eq!(all.overridden_by(ConcurrencyOptions::default()), Ok(all));
    }
}
