//! Values of properties in TOML.

use punctual::Any;
use punctual::config::parse_duration;
use punctual_notification::cos_notification as names;
use punctual_notification::cos_notification::Property;
use toml::Value;

/// Kind of a property's values.
#[derive(Clone, Copy)]
enum Kind {
    /// One of these names, whose numbers are their places from 0.
    Named(&'static [&'static str]),
    Short,
    Long,
    Flag,
    /// Length of time, with its unit.
    Time,
}

const RELIABILITIES: &[&str] = &["BestEffort", "Persistent"];
const ORDERS: &[&str] = &["AnyOrder", "FifoOrder", "PriorityOrder", "DeadlineOrder"];
const DISCARDS: &[&str] = &[
    "AnyOrder",
    "FifoOrder",
    "PriorityOrder",
    "DeadlineOrder",
    "LifoOrder",
];

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        names::EVENT_RELIABILITY | names::CONNECTION_RELIABILITY => Kind::Named(RELIABILITIES),
        names::ORDER_POLICY => Kind::Named(ORDERS),
        names::DISCARD_POLICY => Kind::Named(DISCARDS),
        names::PRIORITY => Kind::Short,
        names::MAX_EVENTS_PER_CONSUMER
        | names::MAXIMUM_BATCH_SIZE
        | names::MAX_QUEUE_LENGTH
        | names::MAX_CONSUMERS
        | names::MAX_SUPPLIERS => Kind::Long,
        names::START_TIME_SUPPORTED | names::STOP_TIME_SUPPORTED | names::REJECT_NEW_EVENTS => {
            Kind::Flag
        }
        names::TIMEOUT | names::PACING_INTERVAL => Kind::Time,
        _ => return None,
    })
}

/// Returns the value of a property as TOML; `None` for one that files do not have.
pub(super) fn to_toml(property: &Property) -> Option<Value> {
    let any = &property.value;
    Some(match kind(&property.name)? {
        Kind::Named(all) => {
            let number = usize::try_from(any.extract::<i16>().ok()?).ok()?;
            Value::String((*all.get(number)?).to_owned())
        }
        Kind::Short => Value::Integer(any.extract::<i16>().ok()?.into()),
        Kind::Long => Value::Integer(any.extract::<i32>().ok()?.into()),
        Kind::Flag => Value::Boolean(any.extract().ok()?),
        Kind::Time => Value::String(time(any.extract().ok()?)),
    })
}

/// Returns a property with a value.
///
/// # Errors
/// There is no such property, or its values are of another kind.
pub(super) fn of_toml(name: &str, value: &Value) -> Result<Property, String> {
    let kind = kind(name).ok_or("there is no such property")?;
    let any = any(kind, value)?;
    Ok(Property {
        name: name.to_owned(),
        value: any,
    })
}

fn any(kind: Kind, value: &Value) -> Result<Any, String> {
    let failed = |error: punctual_cdr::CdrError| error.to_string();
    match (kind, value) {
        (Kind::Named(all), Value::String(text)) => {
            let number = all.iter().position(|name| name == text);
            let number = number.and_then(|number| i16::try_from(number).ok());
            let number = number.ok_or_else(|| format!("expected one of {}", all.join(", ")))?;
            Any::new(&number).map_err(failed)
        }
        (Kind::Short, Value::Integer(number)) => {
            let number = i16::try_from(*number).map_err(|_| "expected a number of 16 bits")?;
            Any::new(&number).map_err(failed)
        }
        (Kind::Long, Value::Integer(number)) => {
            let number = i32::try_from(*number).map_err(|_| "expected a number of 32 bits")?;
            Any::new(&number).map_err(failed)
        }
        (Kind::Flag, Value::Boolean(flag)) => Any::new(flag).map_err(failed),
        (Kind::Time, Value::String(text)) => Any::new(&units(text)?).map_err(failed),
        (kind, _) => Err(format!("expected {}", expected(kind))),
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Named(all) => format!("one of {}", all.join(", ")),
        Kind::Short | Kind::Long => "a number".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Time => "a time with its unit, as \"30s\"".to_owned(),
    }
}

/// Units of time, each with its length in 100 ns.
const UNITS: [(&str, u64); 3] = [("s", 10_000_000), ("ms", 10_000), ("us", 10)];

/// Formats a time in units of 100 ns.
fn time(units: u64) -> String {
    let whole = UNITS
        .iter()
        .find(|(_, length)| units.is_multiple_of(*length));
    match whole {
        Some((name, length)) => format!("{}{name}", units / length),
        None => format!("{}ns", u128::from(units) * 100),
    }
}

/// Parses a time; returns units of 100 ns.
fn units(text: &str) -> Result<u64, String> {
    if let Some(units) = fine_units(text) {
        return Ok(units);
    }
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    u64::try_from(time.as_nanos() / 100).map_err(|_| "the time is too long".to_owned())
}

/// Parses a time in microseconds, or in nanoseconds, which are a multiple of 100.
fn fine_units(text: &str) -> Option<u64> {
    if let Some(number) = text.strip_suffix("us") {
        return number.parse::<u64>().ok()?.checked_mul(10);
    }
    let nanos: u64 = text.strip_suffix("ns")?.parse().ok()?;
    nanos.is_multiple_of(100).then_some(nanos / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        for (name, text) in [
            ("OrderPolicy", r#""DeadlineOrder""#),
            ("DiscardPolicy", r#""LifoOrder""#),
            ("ConnectionReliability", r#""Persistent""#),
            ("Priority", "-3"),
            ("MaxConsumers", "7"),
            ("RejectNewEvents", "true"),
            ("Timeout", r#""0s""#),
            ("Timeout", r#""1500ms""#),
            ("PacingInterval", r#""300ns""#),
            ("PacingInterval", r#""20us""#),
        ] {
            let table: toml::Table = format!("value = {text}").parse().unwrap();
            let property = of_toml(name, &table["value"]).unwrap();
            assert_eq!(to_toml(&property).as_ref(), Some(&table["value"]), "{name}");
        }
    }

    #[test]
    fn values_of_another_kind_and_unknown_properties_are_refused() {
        for (name, value, reason) in [
            ("Colour", Value::Integer(1), "no such property"),
            (
                "OrderPolicy",
                Value::String("Lifo".into()),
                "expected one of AnyOrder",
            ),
            ("Priority", Value::Integer(40_000), "16 bits"),
            ("Timeout", Value::Integer(3), "with its unit"),
            ("Timeout", Value::String("150ns".into()), "is no time"),
            ("MaxConsumers", Value::Boolean(true), "a number"),
        ] {
            let refused = of_toml(name, &value).unwrap_err();
            assert!(refused.contains(reason), "{name}: {refused}");
        }
    }
}
