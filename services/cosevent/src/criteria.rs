//! Properties of a channel, and the criteria of omniEvents by which a client states them.

use std::time::Duration;

use punctual::Any;

use crate::cos_life_cycle::NameValuePair;
use crate::limits::Limits;

/// Longest name of a channel in bytes.
const LONGEST_NAME: usize = 256;

/// Largest number of criteria.
const MOST_CRITERIA: usize = 64;

/// Properties of a channel. What is `None` is as the service's limits say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    /// Name by which `corbaloc` and `join_channel` find the channel.
    pub(crate) name: Option<String>,
    pub(crate) pull_interval: Option<Duration>,
    pub(crate) queue_events: Option<usize>,
    pub(crate) proxies: Option<usize>,
    /// Repository id of the only type of events that the channel passes on.
    pub(crate) filter_id: Option<String>,
    /// States that the channel is typed.
    pub(crate) is_typed: bool,
}

/// Criterion that a channel cannot have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BadCriterion {
    /// A value has another type than its name requires, or there are too many criteria.
    Invalid(Vec<NameValuePair>),
    /// A value is out of bounds.
    Unmet(Vec<NameValuePair>),
}

impl Properties {
    /// Reads criteria. Names that are not known are ignored, as omniEvents does; so are values of 0 and empty texts, but
    /// for intervals.
    ///
    /// # Errors
    /// The first one that is wrong.
    pub(crate) fn of(criteria: &[NameValuePair]) -> Result<Self, BadCriterion> {
        if criteria.len() > MOST_CRITERIA {
            return Err(BadCriterion::Invalid(Vec::new()));
        }
        let mut properties = Self::default();
        for criterion in criteria {
            properties.read(criterion)?;
        }
        Ok(properties)
    }

    /// Returns the limits of a channel with these properties: none is wider than the service's.
    pub(crate) fn within(&self, limits: &Limits) -> Limits {
        let least = |wanted: Option<usize>, limit: usize| wanted.unwrap_or(limit).min(limit);
        Limits {
            pull_interval: self.pull_interval.unwrap_or(limits.pull_interval),
            queue_events: least(self.queue_events, limits.queue_events),
            proxies: least(self.proxies, limits.proxies),
            ..*limits
        }
    }

    fn read(&mut self, criterion: &NameValuePair) -> Result<(), BadCriterion> {
        match criterion.name.as_str() {
            "PullRetryPeriod_ms" => self.pull_interval = Some(interval(criterion, 1)?),
            // In seconds; the other one goes before it, wherever it stands.
            "PullRetryPeriod" => {
                let interval = interval(criterion, 1_000)?;
                self.pull_interval.get_or_insert(interval);
            }
            "MaxQueueLength" | "MaxEventsPerConsumer" => {
                self.queue_events = count(criterion)?.or(self.queue_events);
            }
            "MaxNumProxies" => self.proxies = count(criterion)?.or(self.proxies),
            "InsName" => self.name = text(criterion)?.or(self.name.take()),
            "FilterId" => self.filter_id = text(criterion)?.or(self.filter_id.take()),
            // There are no cycles here: events are delivered at once.
            "CyclePeriod_ns" => drop(count(criterion)?),
            _ => {}
        }
        Ok(())
    }
}

/// Returns why a text cannot be the name of a channel, if it cannot.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(format!(
            "a channel's name has 1 to {LONGEST_NAME} bytes, and this one {}",
            name.len()
        ));
    }
    match name.chars().any(char::is_control) {
        true => Err("a channel's name has no control characters".to_owned()),
        false => Ok(()),
    }
}

fn invalid(criterion: &NameValuePair) -> BadCriterion {
    BadCriterion::Invalid(vec![criterion.clone()])
}

/// Reads a number of any integer type: omniEvents' programs send `unsigned long`, others may send another.
fn number(value: &Any) -> Option<u64> {
    if let Ok(number) = value.extract::<u32>() {
        return Some(number.into());
    }
    if let Ok(number) = value.extract::<i32>() {
        return u64::try_from(number).ok();
    }
    value.extract::<u64>().ok()
}

fn count(criterion: &NameValuePair) -> Result<Option<usize>, BadCriterion> {
    let number = number(&criterion.value).ok_or_else(|| invalid(criterion))?;
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Some(number).filter(|number| *number > 0))
}

fn interval(criterion: &NameValuePair, millis: u64) -> Result<Duration, BadCriterion> {
    let number = number(&criterion.value).ok_or_else(|| invalid(criterion))?;
    match number {
        0 => Err(BadCriterion::Unmet(vec![criterion.clone()])),
        number => Ok(Duration::from_millis(number.saturating_mul(millis))),
    }
}

fn text(criterion: &NameValuePair) -> Result<Option<String>, BadCriterion> {
    let text = criterion.value.extract::<String>();
    let text = text.map_err(|_| invalid(criterion))?;
    if text.is_empty() {
        return Ok(None);
    }
    match check_name(&text) {
        Ok(()) => Ok(Some(text)),
        Err(_) => Err(invalid(criterion)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::Typed;
    use punctual::stub::Marshal;

    fn criterion(name: &str, value: &(impl Typed + Marshal + ?Sized)) -> NameValuePair {
        NameValuePair {
            name: name.to_owned(),
            value: Any::new(value).unwrap(),
        }
    }

    #[test]
    fn criteria_of_omni_events_are_read() {
        let properties = Properties::of(&[
            criterion("PullRetryPeriod", &2_u32),
            criterion("PullRetryPeriod_ms", &50_u32),
            criterion("MaxQueueLength", &7_u32),
            criterion("MaxNumProxies", &3_i32),
            criterion("CyclePeriod_ns", &1_u32),
            criterion("InsName", "plant"),
            criterion("FilterId", "IDL:plant/Alarm:1.0"),
            criterion("Colour", "green"),
        ]);
        let properties = properties.unwrap();
        assert_eq!(
            properties,
            Properties {
                name: Some("plant".to_owned()),
                pull_interval: Some(Duration::from_millis(50)),
                queue_events: Some(7),
                proxies: Some(3),
                filter_id: Some("IDL:plant/Alarm:1.0".to_owned()),
                is_typed: false,
            }
        );
        let limits = properties.within(&Limits::default());
        assert_eq!((limits.queue_events, limits.proxies), (7, 3));
    }

    #[test]
    fn properties_do_not_exceed_the_limits_of_the_service() {
        let properties = Properties::of(&[criterion("MaxQueueLength", &u32::MAX)]).unwrap();
        let limits = properties.within(&Limits::default());
        assert_eq!(limits.queue_events, Limits::default().queue_events);
    }

    #[test]
    fn values_of_0_and_empty_texts_say_nothing() {
        let properties = Properties::of(&[
            criterion("MaxQueueLength", &0_u32),
            criterion("InsName", ""),
        ]);
        assert_eq!(properties, Ok(Properties::default()));
    }

    #[test]
    fn what_is_wrong_is_returned() {
        let wrong_type = criterion("MaxQueueLength", "many");
        let refused = Properties::of(std::slice::from_ref(&wrong_type));
        assert_eq!(refused, Err(BadCriterion::Invalid(vec![wrong_type])));
        let zero = criterion("PullRetryPeriod_ms", &0_u32);
        let refused = Properties::of(std::slice::from_ref(&zero));
        assert_eq!(refused, Err(BadCriterion::Unmet(vec![zero])));
        let long = criterion("InsName", "x".repeat(300).as_str());
        assert!(matches!(
            Properties::of(&[long]),
            Err(BadCriterion::Invalid(_))
        ));
        let many = vec![criterion("Colour", "green"); 65];
        assert!(Properties::of(&many).is_err());
    }
}
