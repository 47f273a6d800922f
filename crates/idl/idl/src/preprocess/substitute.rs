//! Substitution of arguments into a macro's body, with `#` and `##`.

use super::Preprocessor;
use crate::lexer::{Kind, Scanner, Token};
use crate::session::{Checked, Symbol};

/// Actual arguments of one use of a macro.
pub(super) struct Arguments {
    pub(super) raw: Vec<Vec<Token>>,
    pub(super) expanded: Vec<Option<Vec<Token>>>,
}

impl Preprocessor<'_> {
    /// Returns the body of a macro with its parameters replaced by the arguments.
    pub(super) fn substitute(
        &mut self,
        name: Token,
        body: &[Token],
        parameters: &[Symbol],
        mut arguments: Arguments,
        depth: usize,
    ) -> Checked<Vec<Token>> {
        let index_of = |token: &Token| {
            (token.kind == Kind::Ident)
                .then(|| parameters.iter().position(|p| *p == token.text))
                .flatten()
        };
        let mut result: Vec<Token> = Vec::new();
        let mut index = 0;
        while let Some(token) = body.get(index) {
            index += 1;
            let parameter = index_of(token);
            let next = body.get(index);
            if token.kind == Kind::Hash
                && let Some(parameter) = next.and_then(index_of)
            {
                index += 1;
                result.push(self.stringify(name, &arguments.raw[parameter])?);
            } else if token.kind == Kind::HashHash
                && let (Some(left), Some(next)) = (result.pop(), next)
            {
                index += 1;
                let right = match index_of(next) {
                    Some(parameter) => arguments.raw[parameter].clone(),
                    None => vec![*next],
                };
                let mut right = right.into_iter();
                match right.next() {
                    Some(first) => result.push(self.paste(name, left, first)?),
                    None => result.push(left),
                }
                result.extend(right);
            } else if let Some(parameter) = parameter {
                if next.is_some_and(|next| next.kind == Kind::HashHash) {
                    result.extend_from_slice(&arguments.raw[parameter]);
                } else {
                    if arguments.expanded[parameter].is_none() {
                        let raw = arguments.raw[parameter].clone();
                        arguments.expanded[parameter] = Some(self.expand_list(raw, depth + 1)?);
                    }
                    result.extend(arguments.expanded[parameter].iter().flatten());
                }
            } else {
                result.push(*token);
            }
            if result.len() > self.limits().macro_tokens {
                self.spend_tokens(result.len(), name.place)?;
            }
        }
        Ok(result)
    }

    fn stringify(&mut self, name: Token, tokens: &[Token]) -> Checked<Token> {
        let mut text = String::from("\"");
        for (index, token) in tokens.iter().enumerate() {
            if token.spaced && index > 0 {
                text.push(' ');
            }
            let literal = matches!(token.kind, Kind::String | Kind::Char);
            for c in self.session.names.text(token.text).chars() {
                if c == '"' || c == '\\' && literal {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        self.spend_tokens(text.len() / 4, name.place)?;
        Ok(Token {
            kind: Kind::String,
            text: self.session.names.intern(&text),
            ..name
        })
    }

    fn paste(&mut self, name: Token, left: Token, right: Token) -> Checked<Token> {
        let names = &self.session.names;
        let text = format!("{}{}", names.text(left.text), names.text(right.text));
        self.spend_tokens(text.len() / 4, name.place)?;
        let mut scanner = Scanner::new(&text);
        match (scanner.next(), scanner.next()) {
            (Some(kind), None)
                if !matches!(kind, Kind::Invalid | Kind::LineComment | Kind::BlockComment) =>
            {
                Ok(Token {
                    kind,
                    text: self.session.names.intern(&text),
                    ..left
                })
            }
            _ => {
                let message = format!("`##` makes `{text}`, which is not one token");
                let error = self
                    .session
                    .error_at(name.place, message, "in the macro used here");
                Err(self.session.report(error))
            }
        }
    }
}
