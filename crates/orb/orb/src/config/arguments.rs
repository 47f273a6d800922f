//! `-ORB…` options (CORBA 3.3 part 1, §8.5.2): taken from a program's arguments, the rest handed back.

use super::concurrency::Concurrency;
use super::duration::parse_duration;
use super::endpoint::ListenEndpoint;
use super::error::{ConfigError, bad_value};
use super::initial_reference as reference;
use super::orb_config::OrbConfig;
use super::values::{parse_trace, parse_version, parse_wait};
use super::{bounds, code_set, collocation, real_time, reply_handlers, security};
use crate::priority::Priority;
use std::time::Duration;

type Obey = fn(&mut OrbConfig, &str) -> Result<(), ConfigError>;

struct OptionRule {
    name: &'static str,
    /// Placeholder for its value, as help shows it.
    expected: &'static str,
    /// Purpose, as a program's help and the guide show it.
    meaning: &'static str,
    obey: Obey,
}

const INITIAL_REFERENCE: &str = "Name=IOR:…, Name=corbaloc:… or Name=file://…";

const TIME: &str = "a time such as 200ms or 2s, or a number of milliseconds; 0 for none";

const CONFIG_FILE: &str = "-ORBConfigFile";

/// Option for endpoints of one priority.
const LANE_ENDPOINTS: &str = "-ORBLaneListenEndpoints";
const LANE: &str =
    "priority=endpoints: a CORBA priority from 0 to 32767, and endpoints with `;` between";

const RULES: &[OptionRule] = &[
    OptionRule {
        name: CONFIG_FILE,
        expected: "the path of a TOML file",
        meaning: "The configuration file, read before all other options.",
        // Handled before the others, in `apply`.
        obey: |_, _| Ok(()),
    },
    OptionRule {
        name: "-ORBInitRef",
        expected: INITIAL_REFERENCE,
        meaning: "An initial reference by name. It is checked at the start; a `file://` is read when it is resolved.",
        obey: initial_reference,
    },
    OptionRule {
        name: "-ORBDefaultInitRef",
        expected: "the beginning of a URL, e.g. corbaloc::host:2809",
        meaning: "The URL of names that have no `-ORBInitRef`: this, a `/` and the name.",
        obey: |config, value| {
            reference::check_prefix("-ORBDefaultInitRef", value)?;
            config.default_initial_reference = Some(value.to_owned());
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBListenEndpoints",
        expected: "protocol://place[/option=value&…], several with `;` between",
        meaning: "Where to listen: `iiop://host:port`; without a host on all interfaces, port 0 for one that the system chooses. Replaces the file's endpoints.",
        obey: |config, value| listen(config, "-ORBListenEndpoints", value, None),
    },
    OptionRule {
        name: LANE_ENDPOINTS,
        expected: LANE,
        meaning: "Where threads of that CORBA priority listen; the ORB needs Real-time CORBA.",
        obey: |config, value| {
            let lane = value.split_once('=');
            let lane = lane.and_then(|(priority, rest)| Some((priority.parse().ok()?, rest)));
            let (priority, endpoints): (i32, &str) =
                lane.ok_or_else(|| bad_value(LANE_ENDPOINTS, value, LANE))?;
            let priority =
                Priority::try_from(priority).map_err(|_| bad_value(LANE_ENDPOINTS, value, LANE))?;
            listen(config, LANE_ENDPOINTS, endpoints, Some(priority))
        },
    },
    OptionRule {
        name: "-ORBClientProtocols",
        expected: "protocols in order of preference, with commas between",
        meaning: "Protocols that calls may go out by.",
        obey: |config, value| {
            let names = value
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            config.client_protocols = names.map(str::to_owned).collect();
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBLibrary",
        expected: "the path of a shared library that exports a link",
        meaning: "Loads a link from a shared library.",
        obey: |config, value| {
            config.libraries.push(value.into());
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBConcurrency",
        expected: "thread_per_connection, reactive, or leader_followers[,threads=2,max_threads=16]",
        meaning: "Which threads serve the connections of endpoints that do not say so themselves.",
        obey: |config, value| {
            config.concurrency = Concurrency::parse("-ORBConcurrency", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBWait",
        expected: "read, reactor or leader_followers",
        meaning: "How calls wait for their replies.",
        obey: |config, value| {
            config.wait = parse_wait("-ORBWait", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBSecurity",
        expected: security::WORDS,
        meaning: "Whether calls go by TLS: where a reference offers it (`prefer`), always (`require`), or in the order of the reference's endpoints (`off`).",
        obey: |config, value| {
            config.security = security::parse("-ORBSecurity", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBCharCodeSet",
        expected: code_set::WORDS,
        meaning: "The code set of `char` and `string`, where both sides have it.",
        obey: |config, value| {
            config.char_code_set = code_set::parse("-ORBCharCodeSet", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBCollocation",
        expected: collocation::WAYS,
        meaning: "How calls on objects of the same process go: through their POA (`thru_poa`), past it (`direct`), or as requests (`none`).",
        obey: |config, value| {
            config.collocation = collocation::parse_way("-ORBCollocation", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBReplyHandlers",
        expected: reply_handlers::WAYS,
        meaning: "Which threads run the handlers of asynchronous calls: the one that reads replies, the main thread, or callers that wait.",
        obey: |config, value| {
            config.reply_handlers = reply_handlers::parse("-ORBReplyHandlers", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBCollocationScope",
        expected: collocation::SCOPES,
        meaning: "Whose objects count as objects of the same process: those of every ORB in it, or this ORB's own.",
        obey: |config, value| {
            config.collocation_scope = collocation::parse_scope("-ORBCollocationScope", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBRealTime",
        expected: real_time::MODES,
        meaning: "Whether an ORB with Real-time CORBA starts where the machine refuses it real-time priorities: not (`require`), or without them, with a warning (`best_effort`).",
        obey: |config, value| {
            config.real_time.mode = Some(real_time::parse_mode("-ORBRealTime", value)?);
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBSchedPolicy",
        expected: real_time::POLICIES,
        meaning: "The policy by which the operating system schedules real-time threads.",
        obey: |config, value| {
            config.real_time.policy = Some(real_time::parse_policy("-ORBSchedPolicy", value)?);
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBPriorityMapping",
        expected: real_time::MAPPINGS,
        meaning: "How CORBA priorities become native ones.",
        obey: |config, value| {
            let mapping = real_time::parse_mapping("-ORBPriorityMapping", value)?;
            config.real_time.mapping = Some(mapping);
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBPropagated",
        expected: real_time::PROPAGATED,
        meaning: "The highest CORBA priority that clients may ask for, and whether a request above it is capped or refused.",
        obey: |config, value| {
            let (highest, above) = real_time::parse_propagated("-ORBPropagated", value)?;
            let settings = &mut config.real_time;
            settings.highest_propagated = Some(highest);
            settings.above_highest = above.or(settings.above_highest);
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBLockMemory",
        expected: real_time::SWITCH,
        meaning: "Whether the process keeps its memory locked.",
        obey: |config, value| {
            let is_locked = real_time::parse_switch("-ORBLockMemory", value)?;
            config.real_time.lock_memory = Some(is_locked);
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBTrace",
        expected: "giop, hex or payload, with commas between",
        meaning: "Prints each message, decoded; with a hex dump; with what it carries. Says why requests are held back.",
        obey: |config, value| {
            config.trace = parse_trace("-ORBTrace", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBGIOPVersion",
        expected: "1.0, 1.1 or 1.2",
        meaning: "The newest version of GIOP to speak and to publish.",
        obey: |config, value| {
            config.giop_version = parse_version("-ORBGIOPVersion", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBCallTimeout",
        expected: TIME,
        meaning: "How long a call may take. None by default.",
        obey: |config, value| {
            config.timeouts.call = time("-ORBCallTimeout", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBConnectTimeout",
        expected: TIME,
        meaning: "How long setting up a connection may take. 10 s by default.",
        obey: |config, value| {
            config.timeouts.connect = time("-ORBConnectTimeout", value)?;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBMaxMessageSize",
        expected: "octets, at least 1024",
        meaning: "The longest message that is taken or sent. 64 MiB by default.",
        obey: |config, value| {
            let longest = octets("-ORBMaxMessageSize", value)?;
            bounds::check_message("-ORBMaxMessageSize", longest)?;
            config.limits.message = longest;
            Ok(())
        },
    },
    OptionRule {
        name: "-ORBFragmentSize",
        expected: "octets, 0 for never",
        meaning: "Messages longer than this are sent in fragments. 4 MiB by default.",
        obey: |config, value| {
            config.fragment_size = octets("-ORBFragmentSize", value)?;
            Ok(())
        },
    },
];

impl OrbConfig {
    /// Returns the `-ORB…` options for a program's own help: the name of each, the form of its
    /// value, and its purpose.
    pub fn options() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        RULES
            .iter()
            .map(|rule| (rule.name, rule.expected, rule.meaning))
    }

    /// Takes every `-ORB…` option out of `arguments`, applies it, and returns the rest.
    ///
    /// `-ORBConfigFile` is read before any other option, so that the others override it.
    ///
    /// # Errors
    /// [`ConfigError`] for an unknown option, a missing or a bad value, a bad file.
    pub fn apply_arguments(
        &mut self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Vec<String>, ConfigError> {
        apply(self, arguments.into_iter().collect())
    }
}

fn apply(config: &mut OrbConfig, arguments: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let mut rest = Vec::new();
    let mut given = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("-ORB") {
            rest.push(argument);
            continue;
        }
        let rule = RULES
            .iter()
            .find(|rule| rule.name == argument)
            .ok_or_else(|| {
                let names = RULES.iter().map(|rule| rule.name);
                ConfigError::UnknownOption {
                    nearest: nearest(&argument, names),
                    option: argument.clone(),
                }
            })?;
        let value = arguments.next().ok_or(ConfigError::MissingValue {
            option: rule.name,
            expected: rule.expected,
        })?;
        given.push((rule, value));
    }
    for (_, path) in given.iter().filter(|(rule, _)| rule.name == CONFIG_FILE) {
        config.apply_file(path)?;
    }
    // Endpoints on the command line replace those of the file; they are not added to them.
    if given
        .iter()
        .any(|(rule, _)| ["-ORBListenEndpoints", LANE_ENDPOINTS].contains(&rule.name))
    {
        config.listen.clear();
    }
    for (rule, value) in &given {
        (rule.obey)(config, value)?;
    }
    Ok(rest)
}

/// Adds endpoints, separated by `;`, of one priority, if it is given.
fn listen(
    config: &mut OrbConfig,
    option: &'static str,
    endpoints: &str,
    priority: Option<Priority>,
) -> Result<(), ConfigError> {
    for endpoint in endpoints.split(';').filter(|part| !part.is_empty()) {
        let endpoint = ListenEndpoint::parse(option, endpoint)?;
        config.listen.push(match priority {
            Some(priority) => endpoint.option("priority", priority),
            None => endpoint,
        });
    }
    Ok(())
}

fn initial_reference(config: &mut OrbConfig, value: &str) -> Result<(), ConfigError> {
    match value.split_once('=') {
        Some((name, text)) if !name.is_empty() && !text.is_empty() => {
            reference::check("-ORBInitRef", value, text)?;
            config
                .initial_references
                .insert(name.to_owned(), text.to_owned());
            Ok(())
        }
        _ => Err(bad_value("-ORBInitRef", value, INITIAL_REFERENCE)),
    }
}

/// Parses a time. A number alone is milliseconds, as it was before there were units.
fn time(key: &str, value: &str) -> Result<Option<Duration>, ConfigError> {
    let time = match value.parse() {
        Ok(milliseconds) => Duration::from_millis(milliseconds),
        Err(_) => parse_duration(value).map_err(|_| bad_value(key, value, TIME))?,
    };
    Ok((!time.is_zero()).then_some(time))
}

fn octets(key: &str, value: &str) -> Result<usize, ConfigError> {
    value
        .parse()
        .map_err(|_| bad_value(key, value, "a number of octets"))
}

/// Returns the name most similar to `given`, if any is similar enough to have been meant.
fn nearest(given: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let given = given.to_ascii_lowercase();
    names
        .map(|name| {
            (
                strsim::levenshtein(&given, &name.to_ascii_lowercase()),
                name,
            )
        })
        .min()
        .filter(|&(distance, name)| distance <= name.len() / 4)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollocationScope;
    use crate::policy::Collocation;

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
    fn an_unknown_option_is_refused_and_the_nearest_named() {
        let error = apply_all(&["-ORBListenEndpoint", "iiop://:0"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown option `-ORBListenEndpoint`; did you mean `-ORBListenEndpoints`?"
        );
        let error = apply_all(&["-ORBxyzzy", "1"]).unwrap_err();
        assert_eq!(error.to_string(), "unknown option `-ORBxyzzy`");
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
}
