//! What interceptors can be told of a request: its values are Anys, whose types are known.

use super::argument::Argument;
use punctual_any::{Any, TypeCode};
use punctual_cdr::{CdrError, Decoder};
use punctual_orb::{ArgumentValues, Context, OperationDetails};

/// See the module.
#[derive(Debug)]
pub(super) struct Details<'r> {
    pub(super) arguments: &'r [Argument],
    pub(super) return_type: &'r TypeCode,
    pub(super) exceptions: &'r [TypeCode],
    pub(super) context: Option<&'r (Vec<String>, Context)>,
}

impl OperationDetails for Details<'_> {
    fn arguments(&self) -> ArgumentValues {
        let value = |one: &Argument| {
            let value = one.value().filter(|_| one.goes_out());
            (one.mode(), value.cloned().unwrap_or_default())
        };
        self.arguments.iter().map(value).collect()
    }

    fn exceptions(&self) -> Vec<TypeCode> {
        self.exceptions.to_vec()
    }

    fn contexts(&self) -> Vec<String> {
        self.context
            .map(|(patterns, _)| patterns.clone())
            .unwrap_or_default()
    }

    fn operation_context(&self) -> Context {
        let Some((patterns, context)) = self.context else {
            return Context::new();
        };
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        context.matching(&patterns)
    }

    fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError> {
        let mut result = Any::default();
        result.unmarshal_as(self.return_type, reply)?;
        let mut arguments = self.arguments();
        let places = arguments.iter_mut().zip(self.arguments);
        for ((_, value), argument) in places.filter(|(_, argument)| argument.comes_back()) {
            let mut returned = Any::default();
            returned.unmarshal_as(argument.type_code(), reply)?;
            *value = returned;
        }
        Ok((result, arguments))
    }
}
