//! Operations and attributes (CORBA 3.3 part 1, §7.14 and §7.16).

use super::{Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{
    Annotation, Attribute, DeclId, DeclKind, Direction, Operation, Parameter, Type,
};
use crate::session::{Checked, Reported};
use crate::source::Place;

impl Parser<'_> {
    pub(super) fn operation(&mut self, preamble: Preamble) -> Checked<()> {
        let by_annotation = Annotation::is_set(&preamble.annotations, "oneway");
        let rt = self.timing(&preamble.annotations);
        let oneway = self.eat_word("oneway") || by_annotation;
        self.check_begins_operation()?;
        let returned_at = self.peek().place;
        let returns = if self.eat_word("void") {
            Type::Void
        } else {
            self.param_type()?
        };
        let returned_at = returned_at.to(self.previous());
        if returns != Type::Void {
            self.check_remote(&returns, returned_at);
        }
        let name = self.identifier("the operation's name")?;
        let operation = |parameters, raises, context| {
            let returns = returns.clone();
            DeclKind::Operation(Operation {
                oneway,
                returns,
                parameters,
                raises,
                context,
                rt: rt.clone(),
            })
        };
        let kind = operation(Vec::new(), Vec::new(), Vec::new());
        let id = self.declare(&name, preamble, kind);
        let parameters = self.inside(id, |this| this.parameters(false))?;
        let raises_at = self.peek().place;
        let raises = if self.eat_word("raises") {
            self.exceptions()?
        } else {
            Vec::new()
        };
        let raises_at = raises_at.to(self.previous());
        let context = if self.eat_word("context") {
            self.context()?
        } else {
            Vec::new()
        };
        if oneway {
            self.check_oneway(&returns, returned_at, &parameters, &raises, raises_at);
        }
        self.spec.declarations[id.index()].kind = operation(parameters, raises, context);
        self.semicolon()
    }

    /// Reports an error when the next tokens can begin neither an operation nor anything else
    /// allowed there.
    fn check_begins_operation(&mut self) -> Checked<()> {
        let token = self.peek();
        if token.kind == Kind::ColonColon {
            return Ok(());
        }
        if token.kind != Kind::Ident {
            return Err(self.expected("an operation, attribute or type"));
        }
        let next = self.peek_at(1);
        if next.kind == Kind::LParen && !crate::names::is_reserved(&self.text(token)) {
            let name = self.text(token);
            let message = format!("the operation `{name}` does not say what it returns");
            let help = format!("write `void {name}(…)` if it returns nothing");
            let label = "expected a type before it";
            return Err(self.error_with_help(token.place, message, label, help));
        }
        // `word word word`: the first one was meant as a keyword.
        let three = next.kind == Kind::Ident && self.peek_at(2).kind == Kind::Ident;
        let text = self.text(token);
        let is_type_word = matches!(&*text, "unsigned" | "long" | "void");
        if three && !is_type_word && !self.is_known(&text) {
            return Err(self.not_a_definition(&text, "an operation, attribute or type"));
        }
        Ok(())
    }

    fn is_known(&mut self, name: &str) -> bool {
        crate::names::is_reserved(name) || self.find_text(name).is_some()
    }

    /// Checks the restrictions of §7.14.1: a one-way operation gets no answer.
    fn check_oneway(
        &mut self,
        returns: &Type,
        returned_at: Place,
        parameters: &[Parameter],
        raises: &[DeclId],
        raises_at: Place,
    ) {
        let message = "a oneway operation gets no answer";
        if *returns != Type::Void {
            let label = "cannot return a value";
            self.error_with_help(returned_at, message, label, "let it return `void`");
        }
        for parameter in parameters {
            if parameter.direction != Direction::In {
                let place = Place::from(&parameter.location);
                self.error(place, message, "only `in` parameters can be sent");
            }
        }
        if !raises.is_empty() {
            self.error(raises_at, message, "cannot raise exceptions");
        }
    }

    /// Reads `(in long a, out string b)`, in the operation's own scope.
    pub(super) fn parameters(&mut self, only_in: bool) -> Checked<Vec<Parameter>> {
        self.expect(Kind::LParen)?;
        let mut parameters = Vec::new();
        if self.eat(Kind::RParen) {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter(only_in)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if self.at(Kind::RParen) {
            self.bump();
            return Ok(parameters);
        }
        Err(self.expected("`,` or `)`"))
    }

    fn parameter(&mut self, only_in: bool) -> Checked<Parameter> {
        let preamble = self.preamble()?;
        let token = self.peek();
        let direction = match &*self.text(token) {
            "in" => Direction::In,
            "out" => Direction::Out,
            "inout" => Direction::InOut,
            _ => {
                let found = self.describe(token);
                let message = format!("expected `in`, `out` or `inout`, found {found}");
                let label = "the direction is missing";
                let help = "each parameter says which way it travels, as in `in long x`";
                return Err(self.error_with_help(token.place, message, label, help));
            }
        };
        if only_in && direction != Direction::In {
            let message = "a factory takes `in` parameters only";
            self.error(token.place, message, "cannot come back");
        }
        self.bump();
        let start = self.peek().place;
        let ty = self.param_type()?;
        self.check_remote(&ty, start.to(self.previous()));
        let name = self.identifier("the parameter's name")?;
        self.enter_slot(&name, "parameter");
        Ok(Parameter {
            name: name.text.to_string(),
            direction,
            ty,
            annotations: preamble.annotations,
            location: self.session.location(name.place),
        })
    }

    /// Checks that no local type is passed through an interface that is not local (§7.8.7).
    fn check_remote(&mut self, ty: &Type, place: Place) {
        let inside_operation = self
            .part()
            .is_some_and(|part| matches!(self.spec[part].kind, DeclKind::Operation(_)));
        let remote = if inside_operation {
            let owner = self.part().and_then(|part| self.spec[part].parent);
            owner.is_some_and(|owner| match &self.spec[owner].kind {
                DeclKind::Interface(interface) => {
                    interface.flavour != crate::model::InterfaceFlavour::Local
                }
                _ => false,
            })
        } else {
            self.is_remote_scope()
        };
        if remote && self.is_local(ty) {
            let message = "a local type cannot pass through an interface that is not local";
            let help = "make the interface a `local interface`";
            self.error_with_help(place, message, "holds a local interface", help);
        }
    }

    /// Reads the list of exceptions `(A, B)` of a `raises` clause.
    pub(super) fn exceptions(&mut self) -> Checked<Vec<DeclId>> {
        self.expect(Kind::LParen)?;
        let mut exceptions: Vec<(DeclId, Place)> = Vec::new();
        loop {
            match self.exception_name() {
                Ok((id, place)) => {
                    if let Some((_, first)) = exceptions.iter().find(|(other, _)| *other == id) {
                        let warning = self.session.warning_at(
                            place,
                            "this exception is named twice",
                            "again",
                        );
                        let warning = self.session.and(warning, *first, "first here");
                        self.session.report(warning);
                    } else {
                        exceptions.push((id, place));
                    }
                    if self.is_remote_scope() && self.facts[id.index()].local {
                        let message = "a local exception cannot leave its process";
                        self.error(place, message, "holds a local interface");
                    }
                }
                Err(Reported) if matches!(self.peek().kind, Kind::Comma | Kind::RParen) => {}
                Err(Reported) => return Err(Reported),
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RParen)?;
        Ok(exceptions.into_iter().map(|(id, _)| id).collect())
    }

    /// Reads the list of strings `("a", "b*")` of a `context` clause (§7.14.4).
    fn context(&mut self) -> Checked<Vec<String>> {
        self.expect(Kind::LParen)?;
        let mut context = Vec::new();
        loop {
            if !self.at(Kind::String) {
                return Err(self.expected("a context property in quotes"));
            }
            let token = self.bump();
            let text = self.text(token).trim_matches('"').to_owned();
            let name = text.strip_suffix('*').unwrap_or(&text);
            let starts = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
            let rest = name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
            if !starts || !rest {
                let message = format!("`{text}` is not a context property");
                let label = "expected a letter, then letters, digits, `.` and `_`, maybe a `*`";
                self.error(token.place, message, label);
            }
            context.push(text);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RParen)?;
        Ok(context)
    }

    pub(super) fn attribute(&mut self, mut preamble: Preamble) -> Checked<()> {
        let rt = self.timing(&preamble.annotations);
        let readonly = self.eat_word("readonly");
        if !self.eat_word("attribute") {
            return Err(self.expected("`attribute`"));
        }
        if self.is_word(self.peek(), "readonly") {
            let place = self.peek().place;
            let message = "`readonly` stands behind `attribute`";
            let label = "expected before `attribute`";
            let help = "write `readonly attribute …`";
            return Err(self.error_with_help(place, message, label, help));
        }
        let start = self.peek().place;
        let ty = self.param_type()?;
        self.check_remote(&ty, start.to(self.previous()));
        self.settle(&mut preamble.annotations, &ty);
        let mut declared = Vec::new();
        loop {
            let name = self.identifier("the attribute's name")?;
            let kind = DeclKind::Attribute(Attribute {
                readonly,
                ty: ty.clone(),
                get_raises: Vec::new(),
                set_raises: Vec::new(),
                rt: rt.clone(),
            });
            declared.push(self.declare(&name, preamble.clone(), kind));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let (get, set) = self.attribute_exceptions(readonly, declared.len())?;
        for id in declared {
            if let DeclKind::Attribute(attribute) = &mut self.spec.declarations[id.index()].kind {
                attribute.get_raises.clone_from(&get);
                attribute.set_raises.clone_from(&set);
            }
        }
        self.semicolon()
    }

    fn attribute_exceptions(
        &mut self,
        readonly: bool,
        declarators: usize,
    ) -> Checked<(Vec<DeclId>, Vec<DeclId>)> {
        let (mut get, mut set) = (Vec::new(), Vec::new());
        let place = self.peek().place;
        let any = ["raises", "getraises", "setraises"]
            .iter()
            .any(|word| self.at_word(word));
        if any && declarators > 1 {
            let message = "exceptions can be given for one attribute only";
            self.error(place, message, "after several names");
        }
        if self.at_word("raises") && !readonly {
            let message = "`raises` is for read-only attributes";
            let help = "write `getraises(…)`, `setraises(…)` or both";
            return Err(self.error_with_help(place, message, "not `readonly`", help));
        }
        if self.eat_word("raises") {
            get = self.exceptions()?;
        }
        if !readonly && self.eat_word("getraises") {
            get = self.exceptions()?;
        }
        if !readonly && self.eat_word("setraises") {
            set = self.exceptions()?;
        }
        if readonly && (self.at_word("getraises") || self.at_word("setraises")) {
            let place = self.peek().place;
            let message = "a read-only attribute has `raises` only";
            return Err(self.error(place, message, "write `raises` instead"));
        }
        Ok((get, set))
    }
}
