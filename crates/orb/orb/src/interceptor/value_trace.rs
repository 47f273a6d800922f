//! `-ORBTrace payload`: the values in requests and replies, where stub or skeleton knows their
//! types.
//!
//! It is an interceptor, so that ORBs without it pay nothing. Each value is on one line, in the
//! format of `punctual call` and `punctual trace`: `payload -> cube_long: long l = 3`.

use super::client_info::ClientRequestInfo;
use super::error::InterceptorError;
use super::request_info::{CallFacts, Parameter};
use super::server_info::ServerRequestInfo;
use super::traits::{ClientRequestInterceptor, ServerRequestInterceptor};
use crate::exception::SystemException;
use punctual_any::{Any, ParameterMode};
use std::fmt::Write as _;
use std::io::Write as _;

/// Interceptor that prints the values of requests and replies.
pub(crate) struct ValueTrace;

impl ClientRequestInterceptor for ValueTrace {
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        show_request("->", info.facts, info.arguments());
        Ok(())
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        show_reply("<-", info.facts, info.result(), info.arguments());
        Ok(())
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        show_exception("<-", info.facts, info.received_exception());
        Ok(())
    }
}

impl ServerRequestInterceptor for ValueTrace {
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        show_request("<-", info.facts, info.arguments());
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        show_reply("->", info.facts, info.result(), info.arguments());
        Ok(())
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        show_exception("->", info.facts, info.sending_exception());
        Ok(())
    }
}

type Arguments = Result<Vec<Parameter>, SystemException>;

fn show_request(way: &str, facts: &CallFacts<'_>, arguments: Arguments) {
    let mut lines = Lines::new(way, facts);
    lines.arguments(facts, arguments, ParameterMode::Out);
    lines.print();
}

fn show_reply(
    way: &str,
    facts: &CallFacts<'_>,
    result: Result<Any, SystemException>,
    arguments: Arguments,
) {
    if facts.typed().is_none() || !facts.response_expected {
        return;
    }
    let mut lines = Lines::new(way, facts);
    match result {
        Ok(result) => lines.value("$result", &result),
        Err(why) => lines.note(&why),
    }
    lines.arguments(facts, arguments, ParameterMode::In);
    lines.print();
}

fn show_exception(way: &str, facts: &CallFacts<'_>, exception: Result<Any, SystemException>) {
    if facts.typed().is_none() {
        return;
    }
    let mut lines = Lines::new(way, facts);
    match exception {
        Ok(exception) => lines.value("$exception", &exception),
        Err(why) => lines.note(&why),
    }
    lines.print();
}

/// Lines of the message trace for one message.
struct Lines {
    head: String,
    text: String,
}

impl Lines {
    fn new(way: &str, facts: &CallFacts<'_>) -> Self {
        Self {
            head: format!("payload {way} {}: ", facts.operation),
            text: String::new(),
        }
    }

    /// Adds a line for each argument, except arguments of the direction `but`.
    fn arguments(&mut self, facts: &CallFacts<'_>, arguments: Arguments, but: ParameterMode) {
        let Some(typed) = facts.typed() else {
            return;
        };
        match arguments {
            Ok(arguments) => {
                let names = typed.types.names();
                for (name, argument) in names.zip(&arguments) {
                    if argument.mode != but {
                        self.value(name, &argument.argument);
                    }
                }
            }
            Err(why) => self.note(&why),
        }
    }

    fn value(&mut self, name: &str, value: &Any) {
        // Writing to a string does not fail.
        let _ = writeln!(
            self.text,
            "{}{} {name} = {value}",
            self.head,
            value.type_code()
        );
    }

    fn note(&mut self, why: &SystemException) {
        let _ = writeln!(self.text, "{}{why}", self.head);
    }

    /// Prints all lines in one write, so that output of two threads is not interleaved. Errors,
    /// such as a closed stderr, are ignored.
    fn print(&self) {
        let _ = std::io::stderr().lock().write_all(self.text.as_bytes());
    }
}
