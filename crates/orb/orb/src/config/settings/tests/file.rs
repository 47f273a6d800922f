//! Every key of the file takes effect, invalid values are refused, and the sample has every key.

use crate::config::settings::bounds::Unit;
use crate::config::settings::draft::Draft;
use crate::config::settings::sections::all;
use crate::config::settings::slot::Form;
use crate::config::{Concurrency, OrbConfig, PoolSize};
use punctual_link::iiop::KeepAlive;
use std::time::Duration;

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

const SAMPLE: &str = include_str!("../../../../../../../examples/orb.toml");

#[test]
fn the_sample_is_accepted_and_holds_the_defaults() {
    let defaults = OrbConfig::default();
    assert_eq!(
        format!("{:?}", read(SAMPLE).unwrap()),
        format!("{defaults:?}")
    );
}

/// Returns the sample file with its commented-out keys activated.
fn whole_sample() -> String {
    let lines = SAMPLE.lines().map(|line| match line.strip_prefix("# ") {
        Some(key) if key.split(' ').nth(1) == Some("=") => key,
        Some(table) if table.starts_with('[') && table.ends_with(']') => table,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_key_of_the_sample_is_obeyed() {
    let config = read(&whole_sample()).unwrap();
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
    assert_eq!(config.limits.message, 64 << 20);
    assert_eq!(config.budgets.threads, 4096);
}

/// Configuration keys whose names differ from those of the fields in `OrbConfig`.
const OTHER_NAMES: [(&str, &str); 13] = [
    ("library", "libraries"),
    ("link", "link_properties"),
    ("concurrency.strategy", "concurrency"),
    ("concurrency.threads", "concurrency"),
    ("concurrency.max_threads", "concurrency"),
    ("concurrency.reserve", "concurrency"),
    ("one_way_buffering.most_octets", "octets"),
    (
        "real_time.dynamic_scheduling.reservation_runtime_us",
        "most_reserved",
    ),
    (
        "real_time.dynamic_scheduling.reservation_percent",
        "most_reserved",
    ),
    ("tls.minimum_version", "minimum"),
    ("tcp.keep_alive_idle_s", "idle"),
    ("tcp.keep_alive_interval_s", "interval"),
    ("tcp.keep_alive_probes", "probes"),
];

#[test]
fn a_key_has_the_name_of_its_field_and_its_unit() {
    for (section, setting) in all() {
        let key = section.key(setting);
        let field = setting.field.path.rsplit('.').next().unwrap();
        let other = OTHER_NAMES.iter().find(|(one, _)| *one == key);
        let unit = match setting.bounds.unit {
            Unit::Microseconds => "_us",
            Unit::Milliseconds => "_ms",
            Unit::Seconds => "_s",
            Unit::Bytes | Unit::Count(_) => "",
        };
        match other {
            Some((_, other)) => assert_eq!(field, *other, "{key}"),
            None => assert_eq!(setting.key, format!("{field}{unit}"), "{key}"),
        }
    }
}

#[test]
fn each_number_is_written_to_the_field_that_its_setting_names() {
    let before = format!("{:#?}", OrbConfig::default());
    for (section, setting) in all() {
        let bounds = setting.bounds;
        let mut draft = Draft::of(&OrbConfig::default());
        let form = (setting.field.slot)(&mut draft).form();
        // Values of parts, and of tables that are not there, have no place in the default.
        let is_number = matches!(form, Form::Number | Form::Time(_));
        if !is_number || section.open.is_some() || section.name == "concurrency" {
            continue;
        }
        let number = bounds.least.max(1_234).min(bounds.most);
        let key = section.key(setting);
        let config = read(&match section.name {
            "" => format!("{} = {number}", setting.key),
            table => format!("[{table}]\n{} = {number}", setting.key),
        });
        let after = format!("{:#?}", config.unwrap());
        let differs = before
            .lines()
            .zip(after.lines())
            .position(|(one, other)| one != other);
        let lines: Vec<&str> = after.lines().collect();
        let differs = differs.unwrap_or_else(|| panic!("{key} = {number} changes nothing"));
        // The value may stand on lines of its own behind the name.
        let names = lines[..=differs].iter().rev();
        let name = names.filter_map(|line| line.trim().split_once(": ")).next();
        let field = setting.field.path.rsplit('.').next();
        assert_eq!(name.map(|(name, _)| name), field, "{key}");
    }
}

#[test]
fn names_of_settings_are_their_own() {
    let keys = all().map(|(section, setting)| section.key(setting));
    let options = OrbConfig::options().map(|(name, ..)| name.to_owned());
    let names: Vec<String> = keys.chain(options).collect();
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len());
    assert!(all().all(|(_, setting)| setting.doc.ends_with('.')));
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
    let error = read("[initial_references]\nA = 'corbaloc::h/A'\n\nX = 'bad'").unwrap_err();
    assert!(error.contains("line 4: "), "{error}");
    let error = read("[link.shmiop]\nslots = 7\nspin_us = [7]").unwrap_err();
    assert!(error.contains("line 3: "), "{error}");
    let error = read("default_initial_reference = 'h:1'").unwrap_err();
    assert!(error.contains("`default_initial_reference`"), "{error}");
}

#[test]
fn a_limit_that_would_let_nothing_pass_or_would_not_limit_is_refused_by_its_key() {
    const AT_LEAST_1: &str = "at least 1";
    for (line, expected) in [
        ("message = 0", "1024 to 4294967296 bytes"),
        ("message = 1023", "1024 to 4294967296 bytes"),
        ("message = 4294967297", "1024 to 4294967296 bytes"),
        ("string = 0", "at least 64 bytes"),
        ("string = 63", "at least 64 bytes"),
        ("sequence = 0", "at least 64 elements"),
        ("nesting = 0", AT_LEAST_1),
        ("values = 0", AT_LEAST_1),
        ("fragments_pending = 0", AT_LEAST_1),
        ("fragments_bytes = 0", "at least 1024 bytes"),
        ("received = 0", "at least 16384 bytes"),
        ("received = 16383", "at least 16384 bytes"),
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
        let told = format!(": line 2: `{value}` does not fit `limits.{key}`: expected {expected}");
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

#[test]
fn a_value_of_another_type_is_refused_with_its_line_and_what_is_expected() {
    for (text, told) in [
        (
            "max_nesting = \"many\"",
            "line 1: `\"many\"` does not fit `max_nesting`: expected a number, without quotes",
        ),
        (
            "max_nesting = -1",
            "line 1: `-1` does not fit `max_nesting`: expected a number",
        ),
        (
            "\nlisten = 7",
            "line 2: `7` does not fit `listen`: expected a list of protocol://place",
        ),
        (
            "wait = \"long\"",
            "expected read, reactor or leader_followers",
        ),
        (
            "[timeouts]\ncall_ms = \"2s\"",
            "expected a number of milliseconds; 0 for none, without quotes: `call_ms = 2000`",
        ),
        (
            "[tcp]\nkeep_alive_idle_s = \"1min\"",
            "without quotes: `keep_alive_idle_s = 60`",
        ),
        ("max_nesting = \"7\"", "without quotes: `max_nesting = 7`"),
        ("timeouts = 7", "line 1: `timeouts` is a table, [timeouts]"),
        ("[link]\nshmiop = 7", "`7` does not fit `link.shmiop`"),
        (
            "[link.shmiop]\nspin_us = [7]",
            "`[7]` does not fit `link.shmiop.spin_us`",
        ),
        (
            "[[library]]\nfile = \"x\"",
            "line 2: `x` does not fit `library[0].file`: expected the key path alone",
        ),
        (
            "library = [\n\"x\"\n]",
            "line 2: `x` does not fit `library[0]`: expected tables with the key path",
        ),
        ("library = \"x\"", "`x` does not fit `library`"),
        ("max_nesting = 1.5", "`1.5` does not fit `max_nesting`"),
        ("max_nesting = 4294967296", "expected 0 to 4294967295"),
        (
            "[real_time]\nhighest_propagated = 32768",
            "expected 0 to 32767",
        ),
        (
            "[real_time]\nprocessors = []",
            "expected numbers of one processor or more",
        ),
        (
            "[real_time.dynamic_scheduling]\nreservation_percent = 7",
            "line 2: `7` does not fit `real_time.dynamic_scheduling.reservation_percent`: expected \
             reservation_runtime_us beside it",
        ),
        (
            "[concurrency]\nthreads = 7",
            "line 2: `…` does not fit `concurrency`",
        ),
        (
            "[real_time.dynamic_scheduling]\nabove_reservation = \"cap\"",
            "line 2: `cap` does not fit `real_time.dynamic_scheduling.above_reservation`",
        ),
        (
            "[timeouts]\ncall = 7",
            "unknown key `timeouts.call`; did you mean `timeouts.call_ms`?",
        ),
        (
            "endPoint = \"giop:tcp::2809\"",
            "unknown key `endPoint`, which is of omniORB and TAO: use `listen = [\"iiop://host:2809\"]`",
        ),
        (
            "giopMaxMsgSize = 2097152",
            "unknown key `giopMaxMsgSize`, which is of omniORB: use `limits.message = 67108864`, in bytes",
        ),
        (
            "listne = []",
            "unknown key `listne`; did you mean `listen`?",
        ),
        (
            "call_ms = 7",
            "unknown key `call_ms`; did you mean `timeouts.call_ms`?",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn a_mistake_in_a_table_of_a_library_is_located_at_its_key() {
    let first = "trace = \"hex\"\n[[library]]\npath = \"a.so\"\n\n[[library]]\n";
    for (second, told) in [
        (
            "# a comment\npath = 7",
            "line 7: `7` does not fit `library[1].path`: expected a text",
        ),
        (
            "path = \"b.so\"\nlink = \"b\"",
            "line 7: `b` does not fit `library[1].link`: expected the key path alone",
        ),
        (
            "# no key",
            "line 5: `a table` does not fit `library[1]`: expected the key path",
        ),
    ] {
        let error = read(&format!("{first}{second}\n")).unwrap_err();
        assert!(error.contains(told), "{second}: {error}");
    }
}

#[test]
fn a_quoted_key_is_no_way_to_a_table() {
    for text in [
        "\"timeouts.call_ms\" = 5",
        "\"real_time.dynamic_scheduling\" = {}",
        "[\"\"]\nwait = \"read\"",
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains("unknown key"), "{text}: {error}");
    }
    assert!(read("\"wait\" = \"read\"\n['timeouts']\n'call_ms' = 5").is_ok());
}

#[test]
fn what_a_program_has_set_is_left_as_it_is_where_nothing_is_said() {
    let size = PoolSize {
        threads: 20,
        most: 16,
        reserve: true,
    };
    let mut config = OrbConfig {
        concurrency: Concurrency::LeaderFollowers(size),
        ..OrbConfig::default()
    };
    config.iiop.tcp.keep_alive = Some(KeepAlive {
        idle: Duration::from_millis(500),
        ..KeepAlive::default()
    });
    config.check().unwrap();
    assert!(config.apply_arguments([]).unwrap().is_empty());
    assert_eq!(config.concurrency, Concurrency::LeaderFollowers(size));
}

#[test]
fn a_file_with_a_mistake_changes_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "max_nesting = 3\nmax_forwards = -1").unwrap();
    let mut config = OrbConfig::default();
    config.apply_file(file.path()).unwrap_err();
    assert_eq!(config.max_nesting, OrbConfig::default().max_nesting);
}

#[test]
fn what_a_program_sets_is_checked_as_what_a_file_says() {
    let mut config = OrbConfig::default();
    config.check().unwrap();
    config.limits.string = 63;
    let error = config.check().unwrap_err().to_string();
    assert!(
        error.contains("`63` does not fit `limits.string`"),
        "{error}"
    );
}
