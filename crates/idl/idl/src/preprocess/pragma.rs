//! Directive `#pragma`: those for repository ids (CORBA 3.3 part 1, §14.7.5) become events, `once`
//! is obeyed, and all others belong to other compilers.

use super::{Event, Preprocessor};
use crate::lexer::{Kind, Token};
use crate::session::Checked;

/// Pragmas of other IDL compilers, which are ignored silently.
const IGNORED_PRAGMAS: &[&str] = &[
    "hh",
    "cc",
    "inhibit_code_generation",
    "javaPackage",
    "package",
    "local",
    "sun_local",
    "sun_localservant",
    "jni",
    "dds",
    "DCPS_DATA_TYPE",
    "DCPS_DATA_KEY",
    "keylist",
    "dcps",
    "ciao",
    "diff",
    "component",
    "splice",
    "region",
    "endregion",
    "GCC",
    "gcc",
    "message",
    "warning",
];

/// Limit on a prefix's length: every repository id repeats it.
const MAX_PREFIX: usize = 1024;

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, directive: Token, line: &[Token]) -> Checked<()> {
        let Some((first, arguments)) = line.split_first() else {
            return Ok(());
        };
        let name = self.session.names.text(first.text).clone();
        let is_ours = matches!(&*name, "prefix" | "ID" | "id" | "version" | "once");
        let arguments = match arguments.split_last() {
            Some((last, before)) if is_ours && last.kind == Kind::Semicolon => {
                let message = format!("a `#pragma {name}` has no `;` at its end");
                let warning = self
                    .session
                    .warning_at(last.place, message, "not read")
                    .with_help("remove it: a directive ends with its line");
                self.session.report(warning);
                before
            }
            _ => arguments,
        };
        match &*name {
            "prefix" => self.prefix(*first, arguments),
            "ID" | "id" => self.id(*first, arguments),
            "version" => self.version(*first, arguments),
            "once" => {
                if let Some(frame) = self.frames.last() {
                    self.once.insert(frame.file.path.clone());
                }
                Ok(())
            }
            other if IGNORED_PRAGMAS.contains(&other) => Ok(()),
            other => {
                let known = ["prefix", "ID", "version", "once"];
                let suggestion = crate::names::nearest(other, known.into_iter());
                let label = "not known here, and ignored";
                let place = directive.place.to(first.place);
                let mut warning = self.session.warning_at(place, "unknown pragma", label);
                if let Some(known) = suggestion {
                    warning = warning.with_help(format!("did you mean `{known}`?"));
                }
                self.session.report(warning);
                Ok(())
            }
        }
    }

    fn prefix(&mut self, pragma: Token, arguments: &[Token]) -> Checked<()> {
        let [
            Token {
                kind: Kind::String,
                text,
                ..
            },
        ] = arguments
        else {
            return self.malformed(pragma, arguments, "`#pragma prefix \"text\"`");
        };
        let text = self.session.names.text(*text).trim_matches('"').to_owned();
        if text.len() > MAX_PREFIX {
            let message = format!("a prefix has more than {MAX_PREFIX} characters");
            let error = self.session.error_at(pragma.place, message, "too long");
            return Err(self.session.report(error));
        }
        self.event(Event::Prefix(text.trim_end_matches('/').to_owned()));
        Ok(())
    }

    fn id(&mut self, pragma: Token, arguments: &[Token]) -> Checked<()> {
        let (name, rest) = self.scoped_name(arguments);
        let [
            Token {
                kind: Kind::String,
                text,
                ..
            },
        ] = rest
        else {
            return self.malformed(pragma, arguments, "`#pragma ID name \"id\"`");
        };
        if name.is_empty() {
            return self.malformed(pragma, arguments, "`#pragma ID name \"id\"`");
        }
        let id = self.session.names.text(*text).trim_matches('"').to_owned();
        let place = arguments.first().map_or(pragma.place, |first| first.place);
        self.event(Event::Id { name, id, place });
        Ok(())
    }

    fn version(&mut self, pragma: Token, arguments: &[Token]) -> Checked<()> {
        let (name, rest) = self.scoped_name(arguments);
        let version = match rest {
            [
                Token {
                    kind: Kind::Number,
                    text,
                    ..
                },
            ] => self.session.names.text(*text).to_string(),
            _ => String::new(),
        };
        let (major, minor) = version.split_once('.').unwrap_or(("", ""));
        if name.is_empty() || major.parse::<u16>().is_err() || minor.parse::<u16>().is_err() {
            return self.malformed(pragma, arguments, "`#pragma version name major.minor`");
        }
        let place = arguments.first().map_or(pragma.place, |first| first.place);
        self.event(Event::Version {
            name,
            version,
            place,
        });
        Ok(())
    }

    /// Returns a scoped name at the start of a line's tokens, and the rest.
    fn scoped_name<'t>(&self, tokens: &'t [Token]) -> (String, &'t [Token]) {
        let length = tokens
            .iter()
            .take_while(|token| matches!(token.kind, Kind::Ident | Kind::ColonColon))
            .count();
        let mut name = String::new();
        for token in &tokens[..length] {
            match token.kind {
                Kind::ColonColon => name.push_str("::"),
                // An escaped identifier is the same name (§7.2.3.2).
                _ => {
                    let text = self.session.names.text(token.text);
                    name.push_str(text.strip_prefix('_').unwrap_or(text));
                }
            }
        }
        (name, &tokens[length..])
    }

    fn malformed(&mut self, pragma: Token, arguments: &[Token], form: &str) -> Checked<()> {
        let end = arguments.last().map_or(pragma.place, |last| last.place);
        let error = self.session.error_at(
            pragma.place.to(end),
            "malformed pragma",
            format!("expected {form}"),
        );
        Err(self.session.report(error))
    }
}
