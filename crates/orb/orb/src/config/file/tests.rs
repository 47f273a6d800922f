//! Every key of the file takes effect, invalid values are refused, and the sample has every key.

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
         [timeouts]\nconnect_ms = 0\ncall_ms = 7\n[limits]\nstring = 900\n\
         fragments_pending = 3\nfragments_bytes = 4096\n\
         [tcp]\nno_delay = false\nkeep_alive_idle_s = 3\nuser_timeout_ms = 0",
    )
    .unwrap();
    assert_eq!(config.listen.len(), 2);
    assert!(config.trace.giop && config.trace.hex && !config.trace.payload);
    assert_eq!(config.fragment_size, 0);
    assert_eq!(config.timeouts.connect, None);
    assert_eq!(config.timeouts.call, Some(Duration::from_millis(7)));
    assert_eq!(config.limits.string, 900);
    assert_eq!(config.limits.fragments_pending, 3);
    assert_eq!(config.limits.fragments_bytes, 4096);
    assert!(!config.iiop.tcp.no_delay);
    assert_eq!(
        config.iiop.tcp.keep_alive.unwrap().idle,
        Duration::from_secs(3)
    );
    assert_eq!(config.iiop.tcp.user_timeout, None);
}

const SAMPLE: &str = include_str!("../../../../../../examples/orb.toml");

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
    // Keys without a default are commented out, one a line.
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
    let dynamic = config.real_time.dynamic_scheduling.unwrap();
    assert!(dynamic.above_reservation.is_some() && config.real_time.processors.is_some());
    assert!(config.trace.hex && config.default_initial_reference.is_some());
    assert!(config.initial_references.contains_key("NameService"));
    assert!(config.iiop.tcp.send_buffer.is_some() && config.iiop.tcp.receive_buffer.is_some());
    // For an unknown key the decoder lists the known ones.
    for table in [
        "",
        "[timeouts]\n",
        "[limits]\n",
        "[tcp]\n",
        "[[library]]\n",
        "[one_way_buffering]\n",
        "[concurrency]\n",
        "[tls]\n",
        "[real_time]\n",
        "[real_time.dynamic_scheduling]\n",
    ] {
        let error = read(&format!("{table}unknown = 1")).unwrap_err();
        let (_, known) = error.split_once("expected ").unwrap();
        for key in known.split('`').skip(1).step_by(2) {
            let is_there = all.lines().any(|line| {
                line.starts_with(&format!("{key} ="))
                    || line == format!("[{key}]")
                    || line == format!("[[{key}]]")
                    || line.starts_with(&format!("[{key}."))
                    || line.ends_with(&format!(".{key}]"))
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

#[test]
fn a_limit_that_would_let_nothing_pass_or_would_not_limit_is_refused_by_its_key() {
    const AT_LEAST_1: &str = "at least 1";
    for (line, expected) in [
        ("message = 0", "1024 octets to 4 GiB"),
        ("message = 1023", "1024 octets to 4 GiB"),
        ("message = 4294967297", "1024 octets to 4 GiB"),
        ("string = 0", "at least 64 octets"),
        ("string = 63", "at least 64 octets"),
        ("sequence = 0", "at least 64 elements"),
        ("nesting = 0", AT_LEAST_1),
        ("values = 0", AT_LEAST_1),
        ("fragments_pending = 0", AT_LEAST_1),
        ("fragments_bytes = 0", "at least 1024 octets"),
        ("received = 0", "at least 16384 octets"),
        ("received = 16383", "at least 16384 octets"),
        ("threads = 0", "1 to 1048576 threads"),
        ("threads = 1048577", "1 to 1048576 threads"),
        ("threads = 18446744073709551615", "1 to 1048576 threads"),
        ("requests_per_connection = 0", AT_LEAST_1),
        ("pending_replies = 0", AT_LEAST_1),
        ("pending_replies_per_connection = 0", AT_LEAST_1),
        ("endpoints = 0", AT_LEAST_1),
    ] {
        let (key, value) = line.split_once(" = ").unwrap();
        let error = read(&format!("[limits]\n{line}")).unwrap_err();
        let told = format!("`{value}` does not fit `limits.{key}`: expected {expected}");
        assert!(error.ends_with(&told), "{line}: {error}");
        assert!(error.starts_with("in the configuration file `"), "{error}");
    }
}

#[test]
fn the_least_and_the_most_that_limits_may_be_are_obeyed() {
    for line in [
        "message = 1024",
        "message = 4294967296",
        "string = 64",
        "sequence = 64",
        "nesting = 1",
        "values = 1",
        "fragments_pending = 1",
        "fragments_bytes = 1024",
        "received = 16384",
        "threads = 1",
        "threads = 1048576",
        "requests_per_connection = 1",
        "pending_replies = 1",
        "pending_replies_per_connection = 1",
        "endpoints = 1",
    ] {
        let config = read(&format!("[limits]\n{line}"));
        config.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}
