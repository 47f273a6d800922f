//! Checks of a file before anything is changed, and its parts as the service takes them.

use super::Side;
use super::file::{self, Channel, File, Properties, Stated, Type};
use super::source::Source;
use super::values;
use crate::call::Problem;
use crate::notify::kinds;
use punctual_constraint::{Constraint, Grammar, Limits};
use punctual_notification::cos_notification::{EventType, Property, PropertyError};
use punctual_notification::cos_notify_filter::ConstraintExp;

/// Checks all that can be checked without the service.
///
/// # Errors
/// The first mistake.
pub(super) fn check(source: &Source, file: &File) -> Result<(), Problem> {
    for (name, channel) in &file.channel {
        let key = format!("channel.{name}");
        properties(source, &format!("{key}.quality"), &channel.quality)?;
        properties(
            source,
            &format!("{key}.administration"),
            &channel.administration,
        )?;
        check_admins(source, &key, channel)?;
    }
    Ok(())
}

fn check_admins(source: &Source, key: &str, channel: &Channel) -> Result<(), Problem> {
    for side in [Side::Consumers, Side::Suppliers] {
        for (name, admin) in channel.admins(side) {
            let key = format!("{key}.{}.{}", side.key(), name.get_ref());
            check_stated(source, &key, &admin.stated())?;
            for proxy in &admin.proxies {
                let key = format!("{key}.proxies");
                check_stated(source, &key, &proxy.stated())?;
                kind(source, &key, proxy)?;
            }
        }
    }
    Ok(())
}

fn check_stated(source: &Source, key: &str, stated: &Stated<'_>) -> Result<(), Problem> {
    properties(source, &format!("{key}.quality"), stated.quality)?;
    for filter in stated.filters {
        constraints(source, &format!("{key}.filters"), filter)?;
    }
    Ok(())
}

/// Returns the kind of a proxy.
pub(super) fn kind(
    source: &Source,
    key: &str,
    proxy: &file::Proxy,
) -> Result<kinds::Kind, Problem> {
    let kind = kinds::named(proxy.kind.get_ref());
    kind.ok_or_else(|| {
        let expected = format!("expected one of {}", kinds::names());
        source.problem(proxy.kind.span(), &format!("{key}.kind"), &expected)
    })
}

/// Returns the properties of a table.
pub(super) fn properties(
    source: &Source,
    key: &str,
    table: &Properties,
) -> Result<Vec<Property>, Problem> {
    let all = table.iter().map(|(name, value)| {
        values::of_toml(name, value.get_ref())
            .map_err(|reason| source.problem(value.span(), &format!("{key}.{name}"), &reason))
    });
    all.collect()
}

/// Returns the problem of properties that the service refuses.
pub(super) fn refused(
    source: &Source,
    key: &str,
    table: &Properties,
    errors: &[PropertyError],
) -> Problem {
    let found = errors
        .iter()
        .find_map(|error| Some((error, table.get(&error.name)?)));
    match found {
        Some((error, value)) => {
            let reason = format!("the service refuses it: {:?}", error.code);
            source.problem(value.span(), &format!("{key}.{}", error.name), &reason)
        }
        None => source.problem(0..0, key, "the service refuses the properties"),
    }
}

/// Returns the constraints of a filter.
pub(super) fn constraints(
    source: &Source,
    key: &str,
    filter: &file::Filter,
) -> Result<Vec<ConstraintExp>, Problem> {
    let name = filter.grammar.get_ref();
    let grammar = Grammar::named(name).ok_or_else(|| {
        let expected = "expected `EXTENDED_TCL` or `TCL`";
        source.problem(filter.grammar.span(), &format!("{key}.grammar"), expected)
    })?;
    let all = filter.constraints.iter().map(|one| {
        let text = one.text.get_ref();
        let compiled = Constraint::compile(grammar, text, &Limits::DEFAULT);
        compiled.map_err(|mistake| {
            let key = format!("{key}.constraints.text");
            source.problem(
                one.text.span(),
                &key,
                &format!("{mistake}\n{}", mistake.render(false)),
            )
        })?;
        Ok(ConstraintExp {
            event_types: types(&one.types),
            constraint_expr: text.clone(),
        })
    });
    all.collect()
}

/// Returns types as the service takes them.
pub(super) fn types(types: &[Type]) -> Vec<EventType> {
    let types = types.iter().map(|one| EventType {
        domain_name: one.domain.clone(),
        type_name: one.name.clone(),
    });
    types.collect()
}
