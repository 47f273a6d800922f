//! Options of the command line.

use crate::config::{CollocationScope, ConfigError, OrbConfig};
use crate::policy::Collocation;
use std::time::Duration;

fn apply_all(arguments: &[&str]) -> Result<(OrbConfig, Vec<String>), ConfigError> {
    let mut config = OrbConfig::default();
    let rest = config.apply_arguments(arguments.iter().map(ToString::to_string))?;
    Ok((config, rest))
}

#[test]
fn orb_options_are_taken_and_the_rest_is_handed_back_in_order() {
    let (config, rest) = apply_all(&[
        "program",
        "-ORBInitRef",
        "NameService=corbaloc::h/NameService",
        "--mine",
        "-ORBCallTimeout",
        "250",
        "last",
    ])
    .unwrap();
    assert_eq!(rest, ["program", "--mine", "last"]);
    assert_eq!(
        config.initial_references["NameService"],
        "corbaloc::h/NameService"
    );
    assert_eq!(config.timeouts.call, Some(Duration::from_millis(250)));
}

#[test]
fn the_implementation_repository_is_used_by_the_options_that_tao_has() {
    let (config, rest) = apply_all(&[
        "-ORBUseImR",
        "1",
        "-ORBServerId",
        "plant-7",
        "-ORBImplRepoServiceIOR",
        "corbaloc::h:2815/ImplRepoService",
    ])
    .unwrap();
    assert_eq!(rest, [""; 0]);
    assert!(config.implementation_repository);
    assert_eq!(config.server_id.as_deref(), Some("plant-7"));
    assert_eq!(
        config.initial_references["ImplRepoService"],
        "corbaloc::h:2815/ImplRepoService"
    );
    let (config, _) = apply_all(&["-ORBUseImR", "0"]).unwrap();
    assert!(!config.implementation_repository);
    let error = apply_all(&["-ORBServerId", "a:b"]).unwrap_err().to_string();
    assert!(error.contains("without `:`"), "{error}");
}

#[test]
fn an_unknown_option_is_refused_and_the_nearest_named() {
    let error = apply_all(&["-ORBListenEndpoint", "iiop://:0"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown option `-ORBListenEndpoint`; did you mean `-ORBListenEndpoints`?"
    );
    let error = apply_all(&["-ORBxyzzy", "1"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown option `-ORBxyzzy`; `punctual config --options` lists those there are"
    );
}

#[test]
fn an_option_of_omniorb_or_tao_names_the_one_that_does_the_same() {
    for (given, text) in [
        (
            "-ORBendPoint",
            "`-ORBendPoint` is an option of omniORB and TAO: use `-ORBListenEndpoints iiop://host:port`",
        ),
        (
            "-ORBSvcConf",
            "`-ORBSvcConf` is an option of TAO: use the file (`-ORBConfigFile`), in TOML: `punctual config` prints one",
        ),
        (
            "-ORBtracelevel",
            "`-ORBtracelevel` is an option of omniORB: use `-ORBTrace giop` for messages, and a subscriber of `tracing` for the log",
        ),
    ] {
        let error = apply_all(&[given, "1"]).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn an_endpoint_as_omniorb_writes_it_is_shown_as_it_is_written_here() {
    for (given, here) in [
        ("giop:tcp:host:2809", "expected iiop://host:port"),
        ("giop:ssl::2810", "expected ssliop://host:port"),
        ("giop:unix:/run/x", "expected uiop:///path"),
        ("giop:http:http://host/", "expected protocol://place"),
    ] {
        let error = apply_all(&["-ORBListenEndpoints", given]).unwrap_err();
        assert!(error.to_string().contains(here), "{error}");
    }
}

#[test]
fn endpoints_of_lanes_have_their_priority() {
    let options = ["-ORBLaneListenEndpoints", "20000=iiop://:0;uiop://"];
    let more = [
        "-ORBLaneListenEndpoints",
        "7=iiop://h:1/dscp=EF&deadline=1ms/5ms/10ms",
    ];
    let (config, _) = apply_all(&[&options[..], &more].concat()).unwrap();
    let priorities = config
        .listen
        .iter()
        .map(|one| one.priority().unwrap().get());
    assert_eq!(priorities.collect::<Vec<_>>(), [20_000, 20_000, 7]);
    assert_eq!(config.listen[2].options["dscp"], "EF");
    let reserved = config.listen[2].reservation().unwrap().unwrap();
    assert_eq!(reserved.to_string(), "1ms by 5ms in each 10ms");
    for bad in [
        "iiop://:0",
        "high=iiop://:0",
        "-1=iiop://:0",
        "32768=iiop://:0",
    ] {
        let error = apply_all(&["-ORBLaneListenEndpoints", bad]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(bad) && error.contains("0 to 32767"),
            "{error}"
        );
    }
}

#[test]
fn an_option_without_its_value_says_what_was_expected() {
    let error = apply_all(&["-ORBTrace"]).unwrap_err().to_string();
    assert!(
        error.contains("-ORBTrace") && error.contains("giop"),
        "{error}"
    );
}

#[test]
fn bad_values_are_refused_by_name() {
    for (option, value) in [
        ("-ORBTrace", "everything"),
        ("-ORBConcurrency", "many"),
        ("-ORBWait", "forever"),
        ("-ORBSecurity", "maybe"),
        ("-ORBCharCodeSet", "ebcdic"),
        ("-ORBCollocation", "sometimes"),
        ("-ORBCollocationScope", "planet"),
        ("-ORBReplyHandlers", "nobody"),
        ("-ORBGIOPVersion", "2.0"),
        ("-ORBCallTimeout", "soon"),
        ("-ORBInitRef", "NameService"),
        ("-ORBInitRef", "X=bad"),
        ("-ORBInitRef", "X=corbaloc::h:70000/X"),
        ("-ORBDefaultInitRef", "h:2809"),
        ("-ORBListenEndpoints", "iiop:/:1"),
        ("-ORBMaxMessageSize", "many"),
        ("-ORBMaxMessageSize", "0"),
        ("-ORBMaxMessageSize", "1023"),
        ("-ORBConfigFile", "/no/such/file.toml"),
    ] {
        let error = apply_all(&[option, value]).unwrap_err().to_string();
        assert!(error.contains(value), "{error}");
    }
}

#[test]
fn a_time_has_a_unit_or_is_milliseconds() {
    for (value, time) in [
        ("250", Some(250)),
        ("250ms", Some(250)),
        ("2s", Some(2_000)),
        ("0", None),
        ("0s", None),
    ] {
        let options = ["-ORBCallTimeout", value, "-ORBConnectTimeout", value];
        let (config, _) = apply_all(&options).unwrap();
        let time = time.map(Duration::from_millis);
        assert_eq!(config.timeouts.call, time, "{value}");
        assert_eq!(config.timeouts.connect, time, "{value}");
    }
    let error = apply_all(&["-ORBCallTimeout", "2 fortnights"]).unwrap_err();
    assert!(error.to_string().contains("200ms or 2s"), "{error}");
}

#[test]
fn collocation_has_a_way_and_a_scope() {
    let options = ["-ORBCollocation", "direct", "-ORBCollocationScope", "orb"];
    let (config, _) = apply_all(&options).unwrap();
    assert_eq!(config.collocation, Collocation::Direct);
    assert_eq!(config.collocation_scope, CollocationScope::Orb);
}

#[test]
fn options_override_the_file_wherever_they_stand() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "giop_version = \"1.1\"\nlisten = [\"iiop://127.0.0.1:1\"]\n[timeouts]\ncall_ms = 5\n",
    )
    .unwrap();
    let path = file.path().to_str().unwrap();
    let options = [
        "-ORBGIOPVersion",
        "1.0",
        "-ORBListenEndpoints",
        "iiop://:2",
        "-ORBConfigFile",
        path,
    ];
    let (config, _) = apply_all(&options).unwrap();
    assert_eq!(config.giop_version, punctual_cdr::GiopVersion::V1_0);
    assert_eq!(config.timeouts.call, Some(Duration::from_millis(5)));
    assert_eq!(config.listen.len(), 1);
}

#[test]
fn a_long_value_is_shown_by_its_beginning() {
    let reference = format!("X=IOR:{}", "q".repeat(5000));
    let error = apply_all(&["-ORBInitRef", &reference]).unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with("`X=IOR:qqq") && error.contains("-ORBInitRef"),
        "{error}"
    );
    assert!(error.len() < 400 && error.contains('…'), "{error}");
}

#[test]
fn options_are_all_or_nothing() {
    let mut config = OrbConfig::default();
    let arguments = ["-ORBGIOPVersion", "1.0", "-ORBTrace", "everything"];
    let refused = config.apply_arguments(arguments.map(str::to_owned));
    assert!(refused.is_err());
    assert_eq!(config.giop_version, punctual_cdr::GiopVersion::V1_2);
}

#[test]
fn an_option_of_another_orb_without_a_counterpart_says_why() {
    for (option, told) in [
        ("-ORBtraceThreadId", "the program's subscriber of `tracing`"),
        ("-ORBmaxSocketSend", "has no counterpart here"),
        ("-ORBConnectionCachePurgePercentage", "client_connections"),
    ] {
        let error = apply_all(&[option, "1"]).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
