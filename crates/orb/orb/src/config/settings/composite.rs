//! Settings whose values have a special form.

use super::bounds::Unit;
use super::draft::Libraries;
use super::given::{Given, Value};
use super::slot::{Form, Slot};
use crate::config::endpoint::ListenEndpoint;
use crate::config::error::{ConfigError, bad_value};
use crate::config::initial_reference;
use crate::config::network_priority::{DscpByPriority, NoDscpByPriority};
use crate::config::trace::Trace;
use crate::priority::Priority;
use punctual_link::iiop::KeepAlive;
use punctual_sys::processor::Processors;
use std::collections::BTreeMap;

/// Setting whose value is a list of endpoints. A command-line option adds endpoints; a list in the
/// file replaces them.
impl Slot for Vec<ListenEndpoint> {
    fn form(&self) -> Form {
        Form::Texts("protocol://place[/option=value&…]", ';')
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let texts = given.texts(';')?.into_iter();
        let endpoints = texts.map(|text| ListenEndpoint::parse(given.key, text));
        let endpoints = endpoints.collect::<Result<Vec<_>, _>>()?;
        if matches!(given.value, Value::List(_)) {
            self.clear();
        }
        self.extend(endpoints);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

impl Slot for Trace {
    fn form(&self) -> Form {
        Form::Text("giop, hex or payload, with commas between")
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let mut trace = Self::default();
        for word in given.text()?.split(',') {
            match word {
                "giop" => trace.giop = true,
                "hex" => (trace.giop, trace.hex) = (true, true),
                "payload" => (trace.giop, trace.payload) = (true, true),
                _ => return Err(given.misfit()),
            }
        }
        *self = trace;
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

impl Slot for Option<Priority> {
    fn form(&self) -> Form {
        Form::Number
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let number = i32::try_from(given.number()?).unwrap_or(i32::MAX);
        let priority = Priority::try_from(number);
        *self = Some(priority.map_err(|_| given.bad(given.bounds.to_string()))?);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        self.map(|priority| priority.get().to_string())
    }
}

impl Slot for Option<DscpByPriority> {
    fn form(&self) -> Form {
        Form::Text("steps PRIORITY=DSCP with commas between, in ascending order")
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let steps = given.text()?.parse();
        *self = Some(steps.map_err(|error: NoDscpByPriority| given.bad(error.to_string()))?);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

impl Slot for Option<Processors> {
    fn form(&self) -> Form {
        Form::Numbers("numbers of one processor or more")
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let Value::List(values) = given.value else {
            return Err(given.misfit());
        };
        let numbers: Option<Vec<usize>> = values
            .iter()
            .map(|value| match value {
                Value::Number(number) => usize::try_from(*number).ok(),
                _ => None,
            })
            .collect();
        let processors = numbers.and_then(|numbers| Processors::of(&numbers).ok());
        *self = Some(processors.ok_or_else(|| given.misfit())?);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

/// Setting that enables TCP keep-alive probes by true or false.
impl Slot for Option<KeepAlive> {
    fn form(&self) -> Form {
        Form::Switch
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = given.switch()?.then(|| self.unwrap_or_default());
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        Some(self.is_some().to_string())
    }
}

/// Initial references by name; the given ones are added to the present ones.
impl Slot for BTreeMap<String, String> {
    fn form(&self) -> Form {
        Form::Table {
            file: "a table of IOR:…, corbaloc:…, corbaname:… or file://… by name",
            argument: "Name=IOR:…, Name=corbaloc:…, Name=corbaname:… or Name=file://…",
        }
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        if let Value::Argument(text) = given.value {
            let pair = text.split_once('=');
            let pair = pair.filter(|(name, text)| !name.is_empty() && !text.is_empty());
            let (name, reference) = pair.ok_or_else(|| given.misfit())?;
            initial_reference::check(reference).map_err(|expected| given.bad(expected))?;
            self.insert(name.to_owned(), reference.to_owned());
            return Ok(());
        }
        for (name, value) in given.table()? {
            let key = format!("{}.{name}", given.key);
            let one = Given {
                key: &key,
                value,
                ..*given
            };
            let reference = one.text()?;
            initial_reference::check(reference).map_err(|expected| one.bad(expected))?;
            self.insert(name.clone(), reference.to_owned());
        }
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

/// Link properties by link. Each link checks the names of its properties when it is used.
impl Slot for BTreeMap<String, BTreeMap<String, String>> {
    fn form(&self) -> Form {
        Form::Table {
            file: "tables by link of texts, numbers, true or false",
            argument: "",
        }
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        for (link, value) in given.table()? {
            let key = format!("{}.{link}", given.key);
            let properties = Given {
                key: &key,
                value,
                ..*given
            };
            let ours = self.entry(link.clone()).or_default();
            for (name, value) in properties.table()? {
                if !matches!(value, Value::Text(_) | Value::Number(_) | Value::Switch(_)) {
                    let expected = "a text, a number, true or false";
                    return Err(bad_value(format!("{key}.{name}"), value, expected));
                }
                ours.insert(name.clone(), value.to_string());
            }
        }
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

/// Shared libraries; the given ones are added to the present ones.
impl Slot for Libraries {
    fn form(&self) -> Form {
        Form::Table {
            file: "tables with the key path: a shared library that exports a link",
            argument: "the path of a shared library that exports a link",
        }
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        if let Value::Argument(path) = given.value {
            self.0.push(path.into());
            return Ok(());
        }
        let Value::List(tables) = given.value else {
            return Err(given.misfit());
        };
        for (index, value) in tables.iter().enumerate() {
            let key = format!("{}[{index}]", given.key);
            let table = Given {
                key: &key,
                value,
                ..*given
            };
            self.0.push(given.folder.join(path_of_library(&table)?));
        }
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}

/// Returns the path in a table of one shared library, which has no other key.
fn path_of_library<'g>(table: &Given<'g>) -> Result<&'g str, ConfigError> {
    let mut found = None;
    for (name, value) in table.table()? {
        let key = format!("{}.{name}", table.key);
        match (&**name, value) {
            ("path", Value::Text(path)) => found = Some(path.as_str()),
            ("path", _) => {
                return Err(bad_value(
                    key,
                    value,
                    "a text, the path of a shared library",
                ));
            }
            _ => return Err(bad_value(key, value, "the key path alone")),
        }
    }
    found.ok_or_else(|| table.bad("the key path"))
}
