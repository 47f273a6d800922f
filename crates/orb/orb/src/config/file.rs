//! The TOML file. Every key is optional; an unknown one is an error. `examples/orb.toml` has them all.
//!
//! ```toml
//! listen = ["iiop://:2809/hostname_in_ior=orb.example"]
//! giop_version = "1.2"
//! trace = "giop,hex"
//! [initial_references]
//! NameService = "corbaloc::names.example/NameService"
//! [timeouts]             # milliseconds, 0 for none
//! call_ms = 2000
//! [limits]
//! message = 67108864
//! [tcp]
//! keep_alive_idle_s = 30
//! ```

mod tables;

use super::budgets::Budgets;
use super::concurrency::Wording;
use super::endpoint::ListenEndpoint;
use super::error::{ConfigError, bad_value};
use super::orb_config::OrbConfig;
use super::timeouts::Timeouts;
#[cfg(feature = "tls")]
use super::tls;
use super::values::{parse_trace, parse_version, parse_wait};
use super::{
    bounds, buffer, code_set, collocation, initial_reference, real_time, reply_handlers, security,
};
use punctual_cdr::Limits;
use punctual_link::iiop::KeepAlive;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tables::{ConcurrencyTable, File, LimitTable, TcpTable, TimeoutTable};

impl OrbConfig {
    /// Applies a TOML file.
    ///
    /// # Errors
    /// [`ConfigError`] when it cannot be read, does not parse, has an unknown key or a bad value.
    pub fn apply_file(&mut self, path: impl Into<PathBuf>) -> Result<(), ConfigError> {
        apply(self, path.into())
    }
}

fn apply(config: &mut OrbConfig, path: PathBuf) -> Result<(), ConfigError> {
    let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Unreadable {
        path: path.clone(),
        source,
    })?;
    let file: File = toml::from_str(&text).map_err(|error| ConfigError::BadFile {
        path: path.clone(),
        message: error.to_string(),
    })?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let libraries = file
        .library
        .iter()
        .map(|library| folder.join(&library.path));
    config.libraries.extend(libraries);
    #[cfg(feature = "tls")]
    if let Some(table) = &file.tls {
        tls::obey(config, table, folder).map_err(|error| in_file(&path, &error))?;
    }
    obey(config, file).map_err(|error| in_file(&path, &error))
}

fn in_file(path: &Path, error: &ConfigError) -> ConfigError {
    ConfigError::BadFile {
        path: path.to_owned(),
        message: error.to_string(),
    }
}

fn obey(config: &mut OrbConfig, file: File) -> Result<(), ConfigError> {
    if let Some(listen) = file.listen {
        let parsed = listen
            .iter()
            .map(|endpoint| ListenEndpoint::parse("listen", endpoint));
        config.listen = parsed.collect::<Result<_, _>>()?;
    }
    set(&mut config.client_protocols, file.client_protocols);
    if let Some(version) = file.giop_version {
        config.giop_version = parse_version("giop_version", &version)?;
    }
    if let Some(trace) = file.trace {
        config.trace = parse_trace("trace", &trace)?;
    }
    if let Some(prefix) = file.default_initial_reference {
        initial_reference::check_prefix("default_initial_reference", &prefix)?;
        config.default_initial_reference = Some(prefix);
    }
    if let Some(table) = file.one_way_buffering {
        let buffering = config.one_way_buffering.get_or_insert_default();
        set(&mut buffering.messages, table.messages);
        set(&mut buffering.octets, table.octets);
        set_ms(&mut buffering.delay, table.delay_ms);
        set(&mut config.buffer_capacity.octets, table.most_octets);
        if let Some(word) = table.when_full {
            config.buffer_capacity.when_full = buffer::parse("one_way_buffering.when_full", &word)?;
        }
    }
    set(
        &mut config.one_way_gather,
        file.one_way_gather_us.map(Duration::from_micros),
    );
    for (link, properties) in &file.link {
        obey_link(config, link, properties)?;
    }
    set(&mut config.max_connections, file.max_connections);
    set(&mut config.client_connections, file.client_connections);
    set(
        &mut config.connections_per_endpoint,
        file.connections_per_endpoint,
    );
    set(&mut config.max_nesting, file.max_nesting);
    set(&mut config.cancel_requests, file.cancel_requests);
    if let Some(wait) = file.wait {
        config.wait = parse_wait("wait", &wait)?;
    }
    if let Some(word) = file.security {
        config.security = security::parse("security", &word)?;
    }
    if let Some(word) = file.char_code_set {
        config.char_code_set = code_set::parse("char_code_set", &word)?;
    }
    if let Some(way) = file.collocation {
        config.collocation = collocation::parse_way("collocation", &way)?;
    }
    if let Some(scope) = file.collocation_scope {
        config.collocation_scope = collocation::parse_scope("collocation_scope", &scope)?;
    }
    if let Some(way) = file.reply_handlers {
        config.reply_handlers = reply_handlers::parse("reply_handlers", &way)?;
    }
    if let Some(table) = file.real_time {
        real_time::obey(&mut config.real_time, table)?;
    }
    if let Some(table) = &file.concurrency {
        obey_concurrency(config, table)?;
    }
    set(
        &mut config.foreign_local_endpoints,
        file.foreign_local_endpoints,
    );
    set(&mut config.fragment_size, file.fragment_size);
    set(&mut config.fragment_giop_1_1, file.fragment_giop_1_1);
    set(&mut config.max_forwards, file.max_forwards);
    for (name, text) in &file.initial_references {
        initial_reference::check(&format!("initial_references.{name}"), text, text)?;
    }
    config.initial_references.extend(file.initial_references);
    obey_timeouts(&mut config.timeouts, &file.timeouts);
    obey_limits(&mut config.limits, &file.limits);
    obey_budgets(&mut config.budgets, &file.limits);
    check_limits(&file.limits)?;
    obey_tcp(config, &file.tcp)
}

fn obey_timeouts(timeouts: &mut Timeouts, table: &TimeoutTable) {
    set_ms(&mut timeouts.connect, table.connect_ms);
    set_ms(&mut timeouts.reach, table.reach_ms);
    set_ms(&mut timeouts.call, table.call_ms);
    set_ms(&mut timeouts.first_message, table.first_message_ms);
    set_ms(&mut timeouts.message, table.message_ms);
    set_ms(&mut timeouts.idle, table.idle_ms);
    set_ms(&mut timeouts.make_room, table.make_room_ms);
    set_ms(&mut timeouts.reply, table.reply_ms);
    set_ms(&mut timeouts.answer, table.answer_ms);
    set_ms(&mut timeouts.hand_over, table.hand_over_ms);
    set_ms(&mut timeouts.nested_call, table.nested_call_ms);
    set_ms(&mut timeouts.quiet, table.quiet_ms);
    set_ms(&mut timeouts.drain, table.drain_ms);
    set_ms(&mut timeouts.spare_connection, table.spare_connection_ms);
}

fn obey_limits(limits: &mut Limits, table: &LimitTable) {
    set(&mut limits.message, table.message);
    set(&mut limits.string, table.string);
    set(&mut limits.sequence, table.sequence);
    set(&mut limits.nesting, table.nesting);
    set(&mut limits.values, table.values);
    set(&mut limits.fragments_pending, table.fragments_pending);
    set(&mut limits.fragments_bytes, table.fragments_bytes);
}

fn obey_budgets(budgets: &mut Budgets, table: &LimitTable) {
    set(&mut budgets.received, table.received);
    set(&mut budgets.threads, table.threads);
    set(&mut budgets.endpoints, table.endpoints);
    set(&mut budgets.pending_replies, table.pending_replies);
    set(
        &mut budgets.pending_replies_per_connection,
        table.pending_replies_per_connection,
    );
    set(
        &mut budgets.requests_per_connection,
        table.requests_per_connection,
    );
}

/// Checks the limits in the file, so that the error names it; limits from other sources are checked
/// at the start.
fn check_limits(table: &LimitTable) -> Result<(), ConfigError> {
    let (mut limits, mut budgets) = (Limits::default(), Budgets::default());
    obey_limits(&mut limits, table);
    obey_budgets(&mut budgets, table);
    bounds::check(&limits, &budgets)
}

/// Applies the properties of one link. The link checks their names when it is used.
fn obey_link(
    config: &mut OrbConfig,
    link: &str,
    properties: &BTreeMap<String, toml::Value>,
) -> Result<(), ConfigError> {
    let ours = config.link_properties.entry(link.to_owned()).or_default();
    for (name, value) in properties {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            other => {
                let key = format!("link.{link}.{name}");
                return Err(bad_value(key, other, "a text, a number, true or false"));
            }
        };
        ours.insert(name.clone(), text);
    }
    Ok(())
}

fn obey_concurrency(config: &mut OrbConfig, table: &ConcurrencyTable) -> Result<(), ConfigError> {
    let wording = Wording {
        strategy: table.strategy.as_deref(),
        threads: table.threads,
        most: table.max_threads,
        reserve: table.reserve,
    };
    let said = config.concurrency.said(wording);
    config.concurrency = said.map_err(|expected| {
        let strategy = table.strategy.as_deref().unwrap_or("…");
        bad_value("concurrency", strategy, expected)
    })?;
    Ok(())
}

fn obey_tcp(config: &mut OrbConfig, table: &TcpTable) -> Result<(), ConfigError> {
    let tcp = &mut config.iiop.tcp;
    set(&mut tcp.no_delay, table.no_delay);
    set(&mut tcp.dont_route, table.dont_route);
    let mut keep_alive = tcp.keep_alive.unwrap_or_default();
    for (key, seconds, target) in [
        (
            "tcp.keep_alive_idle_s",
            table.keep_alive_idle_s,
            &mut keep_alive.idle,
        ),
        (
            "tcp.keep_alive_interval_s",
            table.keep_alive_interval_s,
            &mut keep_alive.interval,
        ),
    ] {
        if let Some(seconds) = seconds {
            // The kernel's own range for TCP_KEEPIDLE and TCP_KEEPINTVL.
            if !(1..=32_767).contains(&seconds) {
                return Err(bad_value(key, seconds, "1 to 32767 seconds"));
            }
            *target = Duration::from_secs(seconds);
        }
    }
    if let Some(probes) = table.keep_alive_probes {
        if !(1..=127).contains(&probes) {
            return Err(bad_value("tcp.keep_alive_probes", probes, "1 to 127"));
        }
        keep_alive.probes = probes;
    }
    let wanted = table.keep_alive.unwrap_or(tcp.keep_alive.is_some());
    tcp.keep_alive = wanted.then_some::<KeepAlive>(keep_alive);
    set_ms(&mut tcp.user_timeout, table.user_timeout_ms);
    tcp.send_buffer = table.send_buffer.or(tcp.send_buffer);
    tcp.receive_buffer = table.receive_buffer.or(tcp.receive_buffer);
    Ok(())
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

fn set_ms(target: &mut Option<Duration>, milliseconds: Option<u64>) {
    if let Some(milliseconds) = milliseconds {
        *target = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
    }
}

#[cfg(test)]
mod tests;
