//! Values that are sent with an operation that has a `context` clause (CORBA 3.3 part 1, §8.6).

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use std::collections::BTreeMap;

/// Named text values that are passed with a call (IDL `context` clause).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    values: BTreeMap<String, String>,
}

impl Context {
    /// Creates an empty context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a value of the context by its name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Returns the context's value with this name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns an iterator over all names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the values whose names match an operation's `context` clause, as they would be sent.
    #[must_use]
    pub fn matching(&self, patterns: &[&str]) -> Self {
        let chosen = self
            .values
            .iter()
            .filter(|(name, _)| asked_for(name, patterns));
        Self {
            values: chosen
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        }
    }

    /// Marshals the values whose names match an operation's `context` clause; a pattern that ends
    /// in `*` matches all names with that beginning. On the wire it is a sequence of strings, name
    /// and value in turn (CORBA 3.3 part 2, §9.4.2.1).
    ///
    /// # Errors
    /// Those of marshaling text.
    pub fn marshal_matching(
        &self,
        patterns: &[&str],
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let chosen = || self.iter().filter(|(name, _)| asked_for(name, patterns));
        out.put_length(2 * chosen().count())?;
        for (name, value) in chosen() {
            out.put_string(name)?;
            out.put_string(value)?;
        }
        Ok(())
    }
}

impl Marshal for Context {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.marshal_matching(&["*"], out)
    }
}

impl Unmarshal for Context {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let strings = Vec::<String>::unmarshal(input)?;
        if strings.len() % 2 != 0 {
            return Err(CdrError::Invalid("a context with a name without a value"));
        }
        let mut values = BTreeMap::new();
        let mut strings = strings.into_iter();
        while let (Some(name), Some(value)) = (strings.next(), strings.next()) {
            values.insert(name, value);
        }
        Ok(Self { values })
    }
}

fn asked_for(name: &str, patterns: &[&str]) -> bool {
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::{Block, ByteOrder, Coding};

    #[test]
    fn only_what_the_clause_asks_for_travels() {
        let mut context = Context::new();
        context.set("user.name", "ada");
        context.set("user.role", "engineer");
        context.set("other", "stays");
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        context
            .marshal_matching(&["user.*", "none"], &mut out)
            .unwrap();
        let block = out.into_block();
        let mut input = Decoder::new(&block, ByteOrder::NATIVE, Coding::default());
        let arrived = Context::unmarshal(&mut input).unwrap();
        assert_eq!(
            arrived.iter().collect::<Vec<_>>(),
            [("user.name", "ada"), ("user.role", "engineer")]
        );
        assert_eq!(arrived.value("other"), None);
        assert_eq!(context.matching(&["user.*", "none"]), arrived);
    }
}
