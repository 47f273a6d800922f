//! Strategies of load balancing: their parameters, and what follows from loads.

use punctual_groups::Choice;
use punctual_groups_client::cos_load_balancing::{self as lb, StrategyInfo};

use crate::names::text;

/// Prefix of the names of parameters, before the strategy's name.
const PREFIX: &str = "org.omg.CosLoadBalancing.Strategy.";

/// Share above the average from which on a member sheds load, under LoadAverage.
const ABOVE_AVERAGE: f32 = 0.8;

/// Share above the least load from which on a member sheds load, under LoadMinimum.
const ABOVE_LEAST: f32 = 0.4;

/// Strategy by which the members of a group are chosen.
#[derive(Clone, Debug, Default)]
pub(crate) enum Strategy {
    #[default]
    RoundRobin,
    Random,
    LeastLoaded {
        /// Load above which a member sheds load; 0 for none.
        critical: f32,
        /// Load from which on a member is not chosen; 0 for none.
        reject: f32,
        smoothing: Smoothing,
    },
    LoadMinimum(Smoothing),
    LoadAverage(Smoothing),
    /// Object of a user's, which is asked for each choice.
    Custom(lb::Strategy),
}

/// Parameters by which a reported load becomes an effective one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Smoothing {
    /// Divides the load: from 1 on.
    tolerance: f32,
    /// Share of the load before: from 0, below 1.
    dampening: f32,
    /// Load that each choice of a member is taken to add, until its next report.
    pub(crate) per_balance: f32,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self {
            tolerance: 1.0,
            dampening: 0.0,
            per_balance: 0.0,
        }
    }
}

impl Smoothing {
    /// Returns the effective load that follows from the one before, if there is one, and a reported load.
    pub(crate) fn effective(&self, before: Option<f32>, reported: f32) -> f32 {
        let before = before.map_or(reported, |before| before * self.tolerance);
        let damped = self.dampening * before + (1.0 - self.dampening) * reported;
        (damped / self.tolerance).min(f32::MAX)
    }
}

impl Strategy {
    /// Returns the strategy of a name and parameters; `None` if either is wrong.
    pub(crate) fn of(info: &StrategyInfo) -> Option<Self> {
        let (mut smoothing, mut critical, mut reject) = (Smoothing::default(), 0.0, 0.0);
        let is_adaptive = matches!(&*info.name, "LeastLoaded" | "LoadMinimum" | "LoadAverage");
        for one in &info.props {
            let name = text(&one.nam).replace('\\', "");
            let parameter = name.strip_prefix(PREFIX)?.strip_prefix(&*info.name)?;
            let value = one
                .val
                .extract::<f32>()
                .ok()
                .filter(|value| value.is_finite())?;
            match parameter {
                ".Tolerance" if is_adaptive && value >= 1.0 => smoothing.tolerance = value,
                ".Dampening" if is_adaptive && (0.0..1.0).contains(&value) => {
                    smoothing.dampening = value;
                }
                ".PerBalanceLoad" if is_adaptive && value >= 0.0 => smoothing.per_balance = value,
                ".CriticalThreshold" if info.name == "LeastLoaded" && value >= 0.0 => {
                    critical = value
                }
                ".RejectThreshold" if info.name == "LeastLoaded" && value >= 0.0 => reject = value,
                _ => return None,
            }
        }
        // A member that takes no more clients before it sheds load would be full for good.
        if reject > 0.0 && critical > reject {
            return None;
        }
        match &*info.name {
            "RoundRobin" => Some(Self::RoundRobin),
            "Random" => Some(Self::Random),
            "LeastLoaded" => Some(Self::LeastLoaded {
                critical,
                reject,
                smoothing,
            }),
            "LoadMinimum" => Some(Self::LoadMinimum(smoothing)),
            "LoadAverage" => Some(Self::LoadAverage(smoothing)),
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin => "RoundRobin",
            Self::Random => "Random",
            Self::LeastLoaded { .. } => "LeastLoaded",
            Self::LoadMinimum(_) => "LoadMinimum",
            Self::LoadAverage(_) => "LoadAverage",
            Self::Custom(_) => "custom",
        }
    }

    /// Returns how a member is chosen among those that may be.
    pub(crate) fn choice(&self) -> Choice {
        match self {
            Self::RoundRobin | Self::Custom(_) => Choice::RoundRobin,
            Self::Random | Self::LoadAverage(_) => Choice::ByChance,
            Self::LeastLoaded { .. } | Self::LoadMinimum(_) => Choice::LeastLoaded,
        }
    }

    pub(crate) fn smoothing(&self) -> Smoothing {
        match self {
            Self::LeastLoaded { smoothing, .. }
            | Self::LoadMinimum(smoothing)
            | Self::LoadAverage(smoothing) => *smoothing,
            Self::RoundRobin | Self::Random | Self::Custom(_) => Smoothing::default(),
        }
    }

    /// Returns whether a member with an effective load takes no new clients.
    pub(crate) fn rejects(&self, load: f32) -> bool {
        matches!(self, Self::LeastLoaded { reject, .. } if *reject > 0.0 && load >= *reject)
    }

    /// Returns for each of the members' effective loads whether that member is to shed load; `None` if this strategy does not
    /// say.
    pub(crate) fn overloaded(&self, loads: &[f32]) -> Option<Vec<bool>> {
        let is_over: Box<dyn Fn(f32) -> bool> = match self {
            Self::LeastLoaded { critical, .. } if *critical > 0.0 => {
                let critical = *critical;
                Box::new(move |load| load > critical)
            }
            Self::LoadMinimum(_) => {
                let average = average(loads);
                let least = loads.iter().copied().filter(|load| *load > 0.0);
                let least = least.fold(f32::MAX, f32::min);
                Box::new(move |load| load > average && load / least > 1.0 + ABOVE_LEAST)
            }
            Self::LoadAverage(_) => {
                let average = average(loads);
                Box::new(move |load| load > average && load / average > 1.0 + ABOVE_AVERAGE)
            }
            _ => return None,
        };
        Some(loads.iter().map(|load| is_over(*load)).collect())
    }
}

/// Returns the average of loads, whose sum may be infinite.
fn average(loads: &[f32]) -> f32 {
    let count = loads.len().max(1) as f32;
    loads.iter().map(|load| load / count).sum()
}

#[cfg(test)]
mod tests {
    use punctual::Any;

    use super::*;
    use crate::properties::made;

    fn of(name: &str, parameters: &[(&str, f32)]) -> Option<Strategy> {
        let parameter = |(parameter, value): &(&str, f32)| {
            made(
                &format!("{PREFIX}{name}.{parameter}"),
                Any::new(value).unwrap(),
            )
        };
        Strategy::of(&StrategyInfo {
            name: name.to_owned(),
            props: parameters.iter().map(parameter).collect(),
        })
    }

    #[test]
    fn parameters_out_of_their_ranges_and_those_of_other_strategies_are_refused() {
        for (name, parameters) in [
            ("LoadAverage", &[("Tolerance", 0.5)][..]),
            ("LoadAverage", &[("Tolerance", f32::NAN)]),
            ("LoadMinimum", &[("Dampening", 1.0)]),
            ("LoadMinimum", &[("Dampening", -0.1)]),
            ("LoadMinimum", &[("CriticalThreshold", 1.0)]),
            ("LeastLoaded", &[("PerBalanceLoad", f32::INFINITY)]),
            (
                "LeastLoaded",
                &[("RejectThreshold", 1.0), ("CriticalThreshold", 2.0)],
            ),
            ("RoundRobin", &[("Tolerance", 1.0)]),
            ("Fairest", &[]),
        ] {
            assert!(of(name, parameters).is_none(), "{name} {parameters:?}");
        }
        assert!(
            of(
                "LeastLoaded",
                &[("Dampening", 0.5), ("CriticalThreshold", 2.0)]
            )
            .is_some()
        );
    }

    #[test]
    fn a_damped_load_follows_the_reported_one_slowly_and_is_divided_by_the_tolerance() {
        let strategy = of("LoadAverage", &[("Dampening", 0.5), ("Tolerance", 2.0)]).unwrap();
        let smoothing = strategy.smoothing();
        let first = smoothing.effective(None, 8.0);
        assert!((first - 4.0).abs() < 1e-6);
        let second = smoothing.effective(Some(first), 4.0);
        assert!((second - 3.0).abs() < 1e-6);
    }

    #[test]
    fn members_far_above_the_others_shed_load() {
        let average = of("LoadAverage", &[]).unwrap();
        assert_eq!(
            average.overloaded(&[1.0, 1.0, 1.0, 9.0]).unwrap(),
            [false, false, false, true]
        );
        assert_eq!(average.overloaded(&[0.0, 0.0]).unwrap(), [false, false]);
        let minimum = of("LoadMinimum", &[]).unwrap();
        assert_eq!(
            minimum.overloaded(&[1.0, 1.1, 1.5]).unwrap(),
            [false, false, true]
        );
        let least = of("LeastLoaded", &[("CriticalThreshold", 5.0)]).unwrap();
        assert_eq!(least.overloaded(&[5.0, 5.1]).unwrap(), [false, true]);
        assert!(of("RoundRobin", &[]).unwrap().overloaded(&[1.0]).is_none());
    }
}
