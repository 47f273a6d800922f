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

use super::concurrency::Wording;
use super::endpoint::ListenEndpoint;
use super::error::{ConfigError, bad_value};
use super::orb_config::OrbConfig;
#[cfg(feature = "tls")]
use super::tls;
use super::values::{parse_trace, parse_version, parse_wait};
use super::{collocation, initial_reference};
use punctual_link::iiop::KeepAlive;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<Vec<String>>,
    client_protocols: Option<Vec<String>>,
    giop_version: Option<String>,
    trace: Option<String>,
    default_initial_reference: Option<String>,
    max_connections: Option<usize>,
    client_connections: Option<usize>,
    concurrency: Option<ConcurrencyTable>,
    wait: Option<String>,
    collocation: Option<String>,
    collocation_scope: Option<String>,
    max_nesting: Option<u32>,
    fragment_size: Option<usize>,
    fragment_giop_1_1: Option<bool>,
    max_forwards: Option<u32>,
    #[serde(default)]
    library: Vec<LibraryTable>,
    one_way_buffering: Option<BufferingTable>,
    #[serde(default)]
    initial_references: BTreeMap<String, String>,
    #[serde(default)]
    timeouts: TimeoutTable,
    #[serde(default)]
    limits: LimitTable,
    #[serde(default)]
    tcp: TcpTable,
    #[serde(default)]
    link: BTreeMap<String, BTreeMap<String, toml::Value>>,
    #[cfg(feature = "tls")]
    tls: Option<tls::TlsTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryTable {
    path: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConcurrencyTable {
    strategy: Option<String>,
    threads: Option<usize>,
    max_threads: Option<usize>,
    reserve: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferingTable {
    messages: Option<usize>,
    octets: Option<usize>,
    delay_ms: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeoutTable {
    connect_ms: Option<u64>,
    call_ms: Option<u64>,
    first_message_ms: Option<u64>,
    message_ms: Option<u64>,
    reply_ms: Option<u64>,
    hand_over_ms: Option<u64>,
    nested_call_ms: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTable {
    message: Option<usize>,
    string: Option<usize>,
    sequence: Option<usize>,
    nesting: Option<u16>,
    values: Option<usize>,
    fragments_pending: Option<usize>,
    fragments_bytes: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TcpTable {
    no_delay: Option<bool>,
    dont_route: Option<bool>,
    keep_alive: Option<bool>,
    keep_alive_idle_s: Option<u64>,
    keep_alive_interval_s: Option<u64>,
    keep_alive_probes: Option<u32>,
    user_timeout_ms: Option<u64>,
    send_buffer: Option<usize>,
    receive_buffer: Option<usize>,
}

impl OrbConfig {
    /// Obeys a TOML file.
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
    }
    for (link, properties) in &file.link {
        obey_link(config, link, properties)?;
    }
    set(&mut config.max_connections, file.max_connections);
    set(&mut config.client_connections, file.client_connections);
    set(&mut config.max_nesting, file.max_nesting);
    if let Some(wait) = file.wait {
        config.wait = parse_wait("wait", &wait)?;
    }
    if let Some(way) = file.collocation {
        config.collocation = collocation::parse_way("collocation", &way)?;
    }
    if let Some(scope) = file.collocation_scope {
        config.collocation_scope = collocation::parse_scope("collocation_scope", &scope)?;
    }
    if let Some(table) = &file.concurrency {
        obey_concurrency(config, table)?;
    }
    set(&mut config.fragment_size, file.fragment_size);
    set(&mut config.fragment_giop_1_1, file.fragment_giop_1_1);
    set(&mut config.max_forwards, file.max_forwards);
    for (name, text) in &file.initial_references {
        initial_reference::check(&format!("initial_references.{name}"), text, text)?;
    }
    config.initial_references.extend(file.initial_references);

    let timeouts = &mut config.timeouts;
    set_ms(&mut timeouts.connect, file.timeouts.connect_ms);
    set_ms(&mut timeouts.call, file.timeouts.call_ms);
    set_ms(&mut timeouts.first_message, file.timeouts.first_message_ms);
    set_ms(&mut timeouts.message, file.timeouts.message_ms);
    set_ms(&mut timeouts.reply, file.timeouts.reply_ms);
    set_ms(&mut timeouts.hand_over, file.timeouts.hand_over_ms);
    set_ms(&mut timeouts.nested_call, file.timeouts.nested_call_ms);

    let limits = &mut config.limits;
    set(&mut limits.message, file.limits.message);
    set(&mut limits.string, file.limits.string);
    set(&mut limits.sequence, file.limits.sequence);
    set(&mut limits.nesting, file.limits.nesting);
    set(&mut limits.values, file.limits.values);
    set(&mut limits.fragments_pending, file.limits.fragments_pending);
    set(&mut limits.fragments_bytes, file.limits.fragments_bytes);
    obey_tcp(config, &file.tcp)
}

/// Properties of one link; it says itself, when it is used, which it knows.
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
mod tests {
    use super::*;

    fn read(text: &str) -> Result<OrbConfig, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut config = OrbConfig::default();
        config
            .apply_file(file.path())
            .map(|()| config)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_table_is_obeyed() {
        let config = read(
            "listen = ['iiop://:1', 'iiop://h:2']\ntrace = 'hex'\nfragment_size = 0\n\
             [initial_references]\nNameService = 'corbaloc:::1/x'\n\
             [timeouts]\nconnect_ms = 0\ncall_ms = 7\n[limits]\nstring = 9\n\
             fragments_pending = 3\nfragments_bytes = 4096\n\
             [tcp]\nno_delay = false\nkeep_alive_idle_s = 3\nuser_timeout_ms = 0",
        )
        .unwrap();
        assert_eq!(config.listen.len(), 2);
        assert!(config.trace.giop && config.trace.hex && !config.trace.payload);
        assert_eq!(config.fragment_size, 0);
        assert_eq!(config.timeouts.connect, None);
        assert_eq!(config.timeouts.call, Some(Duration::from_millis(7)));
        assert_eq!(config.limits.string, 9);
        assert_eq!(config.limits.fragments_pending, 3);
        assert_eq!(config.limits.fragments_bytes, 4096);
        assert!(!config.iiop.tcp.no_delay);
        assert_eq!(
            config.iiop.tcp.keep_alive.unwrap().idle,
            Duration::from_secs(3)
        );
        assert_eq!(config.iiop.tcp.user_timeout, None);
    }

    const SAMPLE: &str = include_str!("../../../../../examples/orb.toml");

    #[test]
    fn the_sample_is_accepted_and_holds_the_defaults() {
        let defaults = OrbConfig {
            listen: vec![ListenEndpoint::default()],
            ..OrbConfig::default()
        };
        assert_eq!(
            format!("{:?}", read(SAMPLE).unwrap()),
            format!("{defaults:?}")
        );
    }

    #[test]
    fn the_sample_names_every_key() {
        // What has no default is commented out, one key a line.
        let all: String = SAMPLE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.split(' ').nth(1) == Some("=") => format!("{key}\n"),
                Some(table) if table.starts_with('[') && table.ends_with(']') => {
                    format!("{table}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let config = read(&all).unwrap();
        assert_eq!(config.libraries.len(), 1);
        assert!(config.one_way_buffering.is_some());
        assert_eq!(config.link_properties["shmiop"]["spin_us"], "20");
        #[cfg(feature = "tls")]
        assert!(config.tls.is_some_and(|tls| tls.server_name.is_some()));
        assert!(config.trace.hex && config.default_initial_reference.is_some());
        assert!(config.initial_references.contains_key("NameService"));
        assert!(config.iiop.tcp.send_buffer.is_some() && config.iiop.tcp.receive_buffer.is_some());
        // The decoder lists the keys that it knows when it meets one that it does not.
        for table in [
            "",
            "[timeouts]\n",
            "[limits]\n",
            "[tcp]\n",
            "[[library]]\n",
            "[one_way_buffering]\n",
            "[concurrency]\n",
            "[tls]\n",
        ] {
            let error = read(&format!("{table}unknown = 1")).unwrap_err();
            let (_, known) = error.split_once("expected ").unwrap();
            for key in known.split('`').skip(1).step_by(2) {
                let is_there = all.lines().any(|line| {
                    line.starts_with(&format!("{key} ="))
                        || line == format!("[{key}]")
                        || line == format!("[[{key}]]")
                        || line.starts_with(&format!("[{key}."))
                });
                assert!(is_there, "{key}");
            }
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = read("fragment_size = 0\nfragmentsize = 1\n").unwrap_err();
        assert!(
            error.contains("fragmentsize") && error.contains('2'),
            "{error}"
        );
        assert!(
            read("[tcp]\nnodelay = true")
                .unwrap_err()
                .contains("nodelay")
        );
    }

    #[test]
    fn a_bad_value_is_refused_by_its_key() {
        assert!(
            read("giop_version = '9'")
                .unwrap_err()
                .contains("giop_version")
        );
        assert!(
            read("[tcp]\nkeep_alive_probes = 0")
                .unwrap_err()
                .contains("keep_alive_probes")
        );
        assert!(
            read("listen = ['carrier-pigeon://']")
                .unwrap_err()
                .contains("carrier-pigeon")
        );
        let error = read("[initial_references]\nX = 'bad'").unwrap_err();
        assert!(error.contains("`initial_references.X`"), "{error}");
        let error = read("default_initial_reference = 'h:1'").unwrap_err();
        assert!(error.contains("`default_initial_reference`"), "{error}");
    }
}
