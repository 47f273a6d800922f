//! Properties of groups: which there are, which values they have, and what follows from them.

use std::time::Duration;

use punctual::{Any, Interface, ObjectRef};
use punctual_groups_client::cos_load_balancing::{self as lb, StrategyInfo};
use punctual_groups_client::portable_group::{
    FactoryInfos, GenericFactory, InvalidProperty, MEMB_APP_CTRL, MEMB_INF_CTRL, Property,
    UnsupportedProperty,
};
use punctual_host::store::to_cdr;

use crate::ft;
use crate::limits::Limits;
use crate::names::{location, text};
use crate::refusal::{Refusal, Refused};
use crate::strategy::Strategy;

/// Names of properties begin with one of these; the same property may have both names.
const OF_FT: &str = "org.omg.ft.";
const OF_GROUPS: &str = "org.omg.PortableGroup.";
const STRATEGY_INFO: &str = "org.omg.CosLoadBalancing.StrategyInfo";
/// Property of Punctual's: each request of a client is balanced.
const PER_REQUEST: &str = "punctual.PerRequest";
const CUSTOM_STRATEGY: &str = "org.omg.CosLoadBalancing.CustomStrategy";

/// Units of TimeT in a microsecond.
const PER_MICROSECOND: u64 = 10;

/// Properties by their names as text, in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties(pub(crate) Vec<(String, Any)>);

/// Replication style of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Stateless,
    ColdPassive,
    WarmPassive,
    /// All members run all requests; the primary stores the state for members that begin.
    Active,
}

impl Style {
    const ALL: [(Self, &'static str, ft::ReplicationStyleValue); 4] = [
        (Self::Stateless, "stateless", ft::STATELESS),
        (Self::ColdPassive, "cold-passive", ft::COLD_PASSIVE),
        (Self::WarmPassive, "warm-passive", ft::WARM_PASSIVE),
        (Self::Active, "active", ft::ACTIVE),
    ];

    /// Returns whether one member serves, and the others wait.
    pub(crate) fn is_passive(self) -> bool {
        matches!(self, Self::ColdPassive | Self::WarmPassive)
    }

    /// Returns whether one member is primary, and stores the group's state.
    pub(crate) fn has_primary(self) -> bool {
        self != Self::Stateless
    }

    pub(crate) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(style, _, _)| *style == self);
        found.map_or("", |(_, name, _)| name)
    }

    /// Returns the value of the property for the name of a style.
    pub(crate) fn value(name: &str) -> Option<i32> {
        let found = Self::ALL.iter().find(|(_, one, _)| *one == name);
        found.map(|(_, _, value)| *value)
    }

    fn of(value: i64) -> Option<Self> {
        let found = Self::ALL
            .iter()
            .find(|(_, _, one)| i64::from(*one) == value);
        found.map(|(style, _, _)| *style)
    }
}

/// Settings of a group, as its properties say.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) style: Style,
    /// True if members are made by factories.
    pub(crate) is_made: bool,
    /// True if members are asked whether they live.
    pub(crate) is_monitored: bool,
    /// Time between two checkpoints; `None` if members store their state themselves.
    pub(crate) checkpoint: Option<Duration>,
    pub(crate) initial: u16,
    pub(crate) minimum: u16,
    pub(crate) factories: FactoryInfos,
    pub(crate) strategy: Strategy,
    /// True if members send clients back to the group after each request.
    pub(crate) is_per_request: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            style: Style::default(),
            is_made: false,
            is_monitored: true,
            checkpoint: None,
            initial: 1,
            minimum: 1,
            factories: FactoryInfos::default(),
            strategy: Strategy::default(),
            is_per_request: false,
        }
    }
}

/// Fault of a property.
enum Fault {
    Unsupported,
    Invalid,
}

impl Properties {
    /// Returns what follows from properties, of which later ones take precedence.
    pub(crate) fn settings<'p>(levels: impl IntoIterator<Item = &'p Self>) -> Settings {
        let mut settings = Settings::default();
        let mut interval = None;
        let mut is_consistent_by_service = true;
        for (name, value) in levels.into_iter().flat_map(|level| &level.0) {
            // Values were checked when they were set.
            let number = || integer(value).unwrap_or_default();
            let small = || u16::try_from(number()).unwrap_or_default();
            match property(name) {
                Some("ReplicationStyle") => {
                    settings.style = Style::of(number()).unwrap_or_default()
                }
                Some("MembershipStyle") => settings.is_made = number() == i64::from(MEMB_INF_CTRL),
                Some("FaultMonitoringStyle") => {
                    // Leases are what members push.
                    settings.is_monitored = number() == i64::from(ft::PULL);
                }
                Some("ConsistencyStyle") => {
                    is_consistent_by_service = number() == i64::from(ft::CONS_INF_CTRL);
                }
                Some("CheckpointInterval") => interval = value.extract::<u64>().ok(),
                Some("InitialNumberReplicas" | "InitialNumberMembers") => {
                    settings.initial = small()
                }
                Some("MinimumNumberReplicas" | "MinimumNumberMembers") => {
                    settings.minimum = small()
                }
                Some("Factories") => settings.factories = value.extract().unwrap_or_default(),
                _ if name.replace('\\', "") == PER_REQUEST => {
                    settings.is_per_request = value.extract::<bool>().unwrap_or_default();
                }
                _ => {
                    if let Ok(strategy) = strategy(name, value) {
                        settings.strategy = strategy;
                    }
                }
            }
        }
        let interval = interval.map(|time| Duration::from_micros(time / PER_MICROSECOND));
        settings.checkpoint = interval.filter(|time| is_consistent_by_service && !time.is_zero());
        settings
    }

    /// Sets properties; each replaces one of the same name.
    ///
    /// # Errors
    /// UnsupportedProperty, InvalidProperty for the first that is; IMP_LIMIT if there are too many, or they are too long.
    pub(crate) fn set(&mut self, properties: &[Property], limits: &Limits) -> Refused<()> {
        let mut set = self.0.clone();
        for one in properties {
            let name = text(&one.nam);
            let fault = match name.len() > limits.name_bytes {
                true => Err(Fault::Unsupported),
                false => check(&name, &one.val),
            };
            fault.map_err(|fault| refusal(&fault, one))?;
            match set.iter_mut().find(|(set, _)| *set == name) {
                Some((_, value)) => *value = one.val.clone(),
                None => set.push((name, one.val.clone())),
            }
        }
        if set.len() > limits.properties {
            return Err(Refusal::limit("properties"));
        }
        let mut bytes = 0_usize;
        for (name, value) in &set {
            bytes = bytes.saturating_add(name.len());
            bytes = bytes.saturating_add(to_cdr(value)?.len());
        }
        if bytes > limits.property_bytes {
            return Err(Refusal::limit("bytes of properties"));
        }
        self.0 = set;
        Ok(())
    }

    /// Removes properties by their names; one that is not there is no error.
    ///
    /// # Errors
    /// UnsupportedProperty for a name that no property has.
    pub(crate) fn remove(&mut self, properties: &[Property]) -> Refused<()> {
        if let Some(one) = properties.iter().find(|one| !is_known(&text(&one.nam))) {
            return Err(refusal(&Fault::Unsupported, one));
        }
        let names: Vec<String> = properties.iter().map(|one| text(&one.nam)).collect();
        self.0.retain(|(name, _)| !names.contains(name));
        Ok(())
    }

    /// Returns properties as clients see them, of which later ones take precedence.
    pub(crate) fn shown<'p>(levels: impl IntoIterator<Item = &'p Self>) -> Vec<Property> {
        let mut shown: Vec<Property> = Vec::new();
        for (name, value) in levels.into_iter().flat_map(|level| &level.0) {
            let nam = location(name);
            match shown.iter_mut().find(|one| one.nam == nam) {
                Some(one) => one.val = value.clone(),
                None => shown.push(Property {
                    nam,
                    val: value.clone(),
                }),
            }
        }
        shown
    }
}

/// Makes a property of a name without special characters.
pub(crate) fn made(name: &str, val: Any) -> Property {
    let nam = vec![punctual_naming_client::cos_naming::NameComponent {
        id: name.to_owned(),
        kind: String::new(),
    }];
    Property { nam, val }
}

/// Makes the property of a replication style, by its name.
pub(crate) fn of_style(name: &str) -> Option<Property> {
    let value = Any::new(&Style::value(name)?).ok()?;
    Some(made(&format!("{OF_FT}ReplicationStyle"), value))
}

/// Makes the property of a strategy of the service's own, by its name.
pub(crate) fn of_strategy(name: &str) -> Option<Property> {
    let info = StrategyInfo {
        name: name.to_owned(),
        props: Vec::new(),
    };
    Some(made(STRATEGY_INFO, Any::new(&info).ok()?))
}

fn refusal(fault: &Fault, property: &Property) -> Refusal {
    let (nam, val) = (property.nam.clone(), property.val.clone());
    match fault {
        Fault::Unsupported => Refusal::UnsupportedProperty(UnsupportedProperty { nam, val }),
        Fault::Invalid => Refusal::InvalidProperty(InvalidProperty { nam, val }),
    }
}

/// Returns the name of a property as text without its prefix, which has dots: those of one component are escaped.
fn property(name: &str) -> Option<&'static str> {
    let plain = name.replace('\\', "");
    let plain = plain
        .strip_prefix(OF_FT)
        .or_else(|| plain.strip_prefix(OF_GROUPS))?;
    PROPERTIES.iter().find(|one| **one == plain).copied()
}

/// Properties of groups, but for those of balancing.
const PROPERTIES: [&str; 12] = [
    "ReplicationStyle",
    "MembershipStyle",
    "ConsistencyStyle",
    "FaultMonitoringStyle",
    "FaultMonitoringGranularity",
    "FaultMonitoringIntervalAndTimeout",
    "Factories",
    "InitialNumberReplicas",
    "InitialNumberMembers",
    "MinimumNumberReplicas",
    "MinimumNumberMembers",
    "CheckpointInterval",
];

fn is_known(name: &str) -> bool {
    let plain = name.replace('\\', "");
    property(name).is_some()
        || [STRATEGY_INFO, CUSTOM_STRATEGY, PER_REQUEST].contains(&plain.as_str())
}

fn check(name: &str, value: &Any) -> Result<(), Fault> {
    if name.replace('\\', "") == PER_REQUEST {
        let value = value.extract::<bool>();
        return value.map(drop).map_err(|_| Fault::Invalid);
    }
    let Some(property) = property(name) else {
        return match is_known(name) {
            true => strategy(name, value).map(drop),
            false => Err(Fault::Unsupported),
        };
    };
    let number = || integer(value).ok_or(Fault::Invalid);
    let one_of = |supported: &[i32], all: &[i32]| {
        let number = number()?;
        let is_in = |values: &[i32]| values.iter().any(|one| i64::from(*one) == number);
        match (is_in(supported), is_in(all)) {
            (true, _) => Ok(()),
            (false, true) => Err(Fault::Unsupported),
            (false, false) => Err(Fault::Invalid),
        }
    };
    match property {
        "ReplicationStyle" => one_of(
            &[
                ft::STATELESS,
                ft::COLD_PASSIVE,
                ft::WARM_PASSIVE,
                ft::ACTIVE,
            ],
            &[ft::ACTIVE_WITH_VOTING],
        ),
        "MembershipStyle" => one_of(&[MEMB_APP_CTRL, MEMB_INF_CTRL], &[]),
        "ConsistencyStyle" => one_of(&[ft::CONS_APP_CTRL, ft::CONS_INF_CTRL], &[]),
        "FaultMonitoringStyle" => one_of(&[ft::PULL, ft::PUSH, ft::NOT_MONITORED], &[]),
        "FaultMonitoringGranularity" => one_of(&[ft::MEMB], &[ft::LOC, ft::LOC_AND_TYPE]),
        // The service has one interval for all groups.
        "FaultMonitoringIntervalAndTimeout" => {
            let times = value.extract::<ft::FaultMonitoringIntervalAndTimeoutValue>();
            times.map(drop).map_err(|_| Fault::Invalid)
        }
        "CheckpointInterval" => {
            let time = value.extract::<u64>().map_err(|_| Fault::Invalid)?;
            let shortest = 10_000 * PER_MICROSECOND;
            let is_valid = time == 0 || time >= shortest;
            is_valid.then_some(()).ok_or(Fault::Invalid)
        }
        "Factories" => {
            let factories = value.extract::<FactoryInfos>();
            let factories = factories.map_err(|_| Fault::Invalid)?;
            let is_valid = factories
                .iter()
                .all(|one| one.the_factory.is_some() && !one.the_location.is_empty());
            is_valid.then_some(()).ok_or(Fault::Invalid)
        }
        _ => match number()? {
            0..=1_000 => Ok(()),
            _ => Err(Fault::Invalid),
        },
    }
}

fn strategy(name: &str, value: &Any) -> Result<Strategy, Fault> {
    match name.replace('\\', "").as_str() {
        STRATEGY_INFO => {
            let info = value
                .extract::<StrategyInfo>()
                .map_err(|_| Fault::Invalid)?;
            Strategy::of(&info).ok_or(Fault::Invalid)
        }
        CUSTOM_STRATEGY => {
            let object = object(value).ok_or(Fault::Invalid)?;
            Ok(Strategy::Custom(lb::Strategy::from_object(object)))
        }
        _ => Err(Fault::Unsupported),
    }
}

/// Returns the reference in a value, of whatever interface.
fn object(value: &Any) -> Option<ObjectRef> {
    let strategy = value.extract::<Option<lb::Strategy>>().ok().flatten();
    let strategy = strategy.map(|one| one.as_object().clone());
    strategy.or_else(|| value.extract::<Option<ObjectRef>>().ok().flatten())
}

/// Returns the number in a value, of whatever integer type: clients use several.
fn integer(value: &Any) -> Option<i64> {
    let signed = || value.extract::<i32>().map(i64::from);
    let short = || value.extract::<i16>().map(i64::from);
    let unsigned = || value.extract::<u32>().map(i64::from);
    let unsigned_short = || value.extract::<u16>().map(i64::from);
    let found = signed().or_else(|_| short());
    found
        .or_else(|_| unsigned())
        .or_else(|_| unsigned_short())
        .ok()
}

/// Returns the factory of a property's entry.
pub(crate) fn factory(
    info: &punctual_groups_client::portable_group::FactoryInfo,
) -> Option<&GenericFactory> {
    info.the_factory.as_ref()
}
