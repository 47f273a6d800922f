//! `-ORB…` options (CORBA 3.3 part 1, §8.5.2): they are removed from a program's arguments, and the
//! other arguments are returned.

use super::draft::Draft;
use super::given::Value;
use super::sections::all;
use super::setting::Setting;
use super::words::Words;
use super::{nearest, on_command_line};
use crate::config::concurrency::Concurrency;
use crate::config::endpoint::ListenEndpoint;
use crate::config::error::{ConfigError, bad_value};
use crate::config::orb_config::OrbConfig;
use crate::config::real_time::AboveHighest;
use crate::priority::Priority;
use std::path::Path;
use std::sync::LazyLock;

/// Description of a command-line option.
struct OptionRule {
    name: &'static str,
    /// Form of the option's value, as help shows it.
    expected: String,
    /// Purpose, as a program's help and the guide show it.
    meaning: &'static str,
    effect: Effect,
}

/// Effect of a command-line option on the configuration.
enum Effect {
    /// Reads a configuration file, before all other options are applied.
    File,
    /// Sets one setting, as the key in the configuration file does.
    Setting(&'static Setting),
    /// Sets several settings, each of which has a key in the configuration file.
    Several(fn(&mut OrbConfig, &str) -> Result<(), ConfigError>),
}

/// Option that sets several settings of the configuration file at once.
struct Several {
    name: &'static str,
    expected: &'static str,
    meaning: &'static str,
    apply: fn(&mut OrbConfig, &str) -> Result<(), ConfigError>,
}

const CONFIG_FILE: &str = "-ORBConfigFile";
const LISTEN_ENDPOINTS: &str = "-ORBListenEndpoints";
const LANE_ENDPOINTS: &str = "-ORBLaneListenEndpoints";
const LANE: &str =
    "priority=endpoints: a CORBA priority from 0 to 32767, and endpoints with `;` between";
const CONCURRENCY: &str = "-ORBConcurrency";
const PROPAGATED: &str = "-ORBPropagated";
const REPOSITORY: &str = "-ORBImplRepoServiceIOR";
const HIGHEST: &str = "the highest CORBA priority that clients may ask for, 0 to 32767, and perhaps `,cap` or `,refuse`";

const SEVERAL: [Several; 4] = [
    Several {
        name: LANE_ENDPOINTS,
        expected: LANE,
        meaning: "Endpoints to listen at with threads of that CORBA priority; the ORB needs Real-time CORBA.",
        apply: add_lane,
    },
    Several {
        name: CONCURRENCY,
        expected: "thread_per_connection, reactive, or leader_followers[,threads=2,max_threads=16]",
        meaning: "Threads that serve the connections of endpoints without a strategy of their own.",
        apply: |config, value| {
            config.concurrency = Concurrency::parse(CONCURRENCY, value)?;
            Ok(())
        },
    },
    Several {
        name: PROPAGATED,
        expected: HIGHEST,
        meaning: "Highest CORBA priority that clients may ask for, and the treatment of requests above it.",
        apply: set_propagated,
    },
    Several {
        name: REPOSITORY,
        expected: "a reference: IOR:…, corbaloc:… or file://…",
        meaning: "The Implementation Repository: the same as -ORBInitRef ImplRepoService=….",
        apply: |config, value| {
            let initial = &mut config.initial_references;
            initial.insert("ImplRepoService".to_owned(), value.to_owned());
            Ok(())
        },
    },
];

/// Every option, in the order in which help shows them.
static RULES: LazyLock<Vec<OptionRule>> = LazyLock::new(|| {
    let mut rules = vec![OptionRule {
        name: CONFIG_FILE,
        expected: "the path of a TOML file".to_owned(),
        meaning: "The configuration file. It is read before all other options, which override it.",
        effect: Effect::File,
    }];
    let mut draft = Draft::of(&OrbConfig::default());
    for (_, setting) in all() {
        if let Some(name) = setting.option {
            rules.push(OptionRule {
                name,
                expected: setting.expected((setting.field.slot)(&mut draft), true),
                meaning: setting.doc,
                effect: Effect::Setting(setting),
            });
        }
    }
    for one in SEVERAL {
        rules.push(OptionRule {
            name: one.name,
            expected: one.expected.to_owned(),
            meaning: one.meaning,
            effect: Effect::Several(one.apply),
        });
    }
    rules
});

impl OrbConfig {
    /// Returns the `-ORB…` options for a program's own help: the name of each, the form of its
    /// value, and its purpose.
    pub fn options() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        RULES
            .iter()
            .map(|rule| (rule.name, &*rule.expected, rule.meaning))
    }

    /// Applies every `-ORB…` option in `arguments`, and returns the remaining arguments. On an
    /// error none of them is applied.
    ///
    /// `-ORBConfigFile` is read before any other option, so that the others override it.
    ///
    /// # Errors
    /// [`ConfigError`] for an unknown option, a missing or a bad value, a bad file.
    pub fn apply_arguments(
        &mut self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Vec<String>, ConfigError> {
        let (given, rest) = split(arguments.into_iter())?;
        *self = applied(self.clone(), given)?;
        Ok(rest)
    }
}

/// Command-line options that were given, with their values.
type GivenOptions = Vec<(&'static OptionRule, String)>;

/// Splits arguments into the `-ORB…` options with their values and the remaining arguments.
fn split(
    mut arguments: impl Iterator<Item = String>,
) -> Result<(GivenOptions, Vec<String>), ConfigError> {
    let (mut given, mut rest) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("-ORB") {
            rest.push(argument);
            continue;
        }
        let Some(rule) = RULES.iter().find(|rule| rule.name == argument) else {
            return Err(unknown(argument));
        };
        let value = arguments.next().ok_or(ConfigError::MissingValue {
            option: rule.name,
            expected: &rule.expected,
        })?;
        given.push((rule, value));
    }
    Ok((given, rest))
}

/// Returns the error for an option that does not exist. If another ORB has that option, the error
/// says what to do instead; otherwise, it names the most similar option of this ORB.
fn unknown(option: String) -> ConfigError {
    match on_command_line(&option) {
        Some((orb, instead)) => ConfigError::ForeignOption {
            option,
            orb,
            instead,
        },
        None => ConfigError::UnknownOption {
            nearest: nearest(&option, RULES.iter().map(|rule| rule.name)),
            option,
        },
    }
}

/// Returns the configuration after the given command-line options have been applied.
fn applied(mut config: OrbConfig, given: GivenOptions) -> Result<OrbConfig, ConfigError> {
    for (_, path) in given.iter().filter(|(rule, _)| rule.name == CONFIG_FILE) {
        config.apply_file(path)?;
    }
    // Endpoints on the command line replace those of the file; they are not added to them.
    if given
        .iter()
        .any(|(rule, _)| [LISTEN_ENDPOINTS, LANE_ENDPOINTS].contains(&rule.name))
    {
        config.listen.clear();
    }
    let mut draft = Draft::of(&config);
    for (rule, value) in given {
        match rule.effect {
            Effect::File => {}
            Effect::Several(apply) => apply(&mut draft.config, &value)?,
            Effect::Setting(setting) => {
                let value = Value::Argument(value);
                setting.apply(&mut draft, rule.name, &value, Path::new(""))?;
            }
        }
    }
    draft.finish()
}

/// Adds the endpoints of a lane, given as `priority=endpoints`.
fn add_lane(config: &mut OrbConfig, value: &str) -> Result<(), ConfigError> {
    let lane = value.split_once('=');
    let lane = lane.and_then(|(priority, endpoints)| {
        let priority: i32 = priority.parse().ok()?;
        Some((Priority::try_from(priority).ok()?, endpoints))
    });
    let (priority, endpoints) = lane.ok_or_else(|| bad_value(LANE_ENDPOINTS, value, LANE))?;
    for endpoint in endpoints.split(';').filter(|part| !part.is_empty()) {
        let endpoint = ListenEndpoint::parse(LANE_ENDPOINTS, endpoint)?;
        config.listen.push(endpoint.option("priority", priority));
    }
    Ok(())
}

/// Sets the highest propagated priority and the treatment of higher ones from `20000`, `20000,cap`
/// or `20000,refuse`.
fn set_propagated(config: &mut OrbConfig, value: &str) -> Result<(), ConfigError> {
    let (number, above) = match value.split_once(',') {
        Some((number, word)) => (number, Some(word)),
        None => (value, None),
    };
    let bad = || bad_value(PROPAGATED, value, HIGHEST);
    let number: i32 = number.parse().map_err(|_| bad())?;
    let highest = Priority::try_from(number).map_err(|_| bad())?;
    let above = above.map(|word| AboveHighest::of_word(word).ok_or_else(bad));
    let settings = &mut config.real_time;
    settings.highest_propagated = Some(highest);
    settings.above_highest = above.transpose()?.or(settings.above_highest);
    Ok(())
}
