//! Annotations (IDL 4.2, §7.4.15): `@name`, `@name(value)`, `@name(a = 1, b = "x")`.
//!
//! An annotation's arguments are checked against its `@annotation` definition, or against the
//! standard's. One that neither defines is kept, and a warning reports it.

mod definition;
mod event;
mod member;
mod parameter;
mod rt;
mod standard;

use super::Parser;
use crate::lexer::Kind;
use crate::model::{
    Annotation, AnnotationArgument, AnnotationValue, ConstValue, DeclId, DeclKind, Type,
};
use crate::names::{self, Target};
use crate::session::Checked;
use crate::source::Place;

use parameter::{AllowedValues, ArgumentPlace, Parameter};

impl Parser<'_> {
    pub(super) fn annotations(&mut self) -> Checked<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.eat(Kind::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    /// Reads annotations of a type at its point of use, as of a sequence's elements or a union's
    /// discriminator (IDL 4.2, §7.4.15.4.2): they are checked, and have no effect.
    pub(super) fn annotations_of_a_type(&mut self) -> Checked<()> {
        for annotation in self.annotations()? {
            if standard::has_an_effect(&annotation.name) {
                let message = format!("`@{}` has no effect on a type", annotation.name);
                let label = "not a member, parameter or definition";
                let place = Place::from(&annotation.location);
                let warning = self.session.warning_at(place, message, label);
                self.session.report(warning);
            }
        }
        Ok(())
    }

    fn annotation(&mut self) -> Checked<Annotation> {
        let start = self.peek().place;
        let name = self.dotted_name()?;
        let place = start.to(self.previous());
        let (arguments, places) = self.arguments()?;
        let mut annotation = Annotation {
            name,
            arguments,
            location: self.session.location(place),
        };
        self.check_annotation(&mut annotation, place, &places);
        Ok(annotation)
    }

    /// Reads the arguments in parentheses, with the source position of each.
    fn arguments(&mut self) -> Checked<(Vec<AnnotationArgument>, Vec<ArgumentPlace>)> {
        let (mut arguments, mut places) = (Vec::new(), Vec::new());
        if !self.eat(Kind::LParen) || self.eat(Kind::RParen) {
            return Ok((arguments, places));
        }
        loop {
            let named = self.at(Kind::Ident) && self.peek_at(1).kind == Kind::Eq;
            let begin = self.peek().place;
            let name = if named {
                let token = self.bump();
                self.bump();
                Some(self.text(token).to_string())
            } else {
                None
            };
            let start = self.peek().place;
            let value = self.annotation_value()?;
            arguments.push(AnnotationArgument { name, value });
            places.push(ArgumentPlace {
                name: begin,
                value: start.to(self.previous()),
            });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RParen)?;
        Ok((arguments, places))
    }

    fn annotation_value(&mut self) -> Checked<AnnotationValue> {
        let token = self.peek();
        self.check_is_no_bare_time(token)?;
        let is_constant = match token.kind {
            Kind::Ident => {
                let text = self.text(token);
                let name = text.strip_prefix('_').unwrap_or(&text);
                matches!(&*text, "TRUE" | "FALSE") || self.names_a_constant(name)
            }
            _ => true,
        };
        if is_constant || token.kind == Kind::ColonColon {
            return Ok(AnnotationValue::Const(self.expression()?));
        }
        Ok(AnnotationValue::Name(self.dotted_name()?))
    }

    /// Reads `a::b` with keywords allowed, as `@default` is an annotation.
    fn dotted_name(&mut self) -> Checked<String> {
        let mut name = String::new();
        if self.eat(Kind::ColonColon) {
            name.push_str("::");
        }
        loop {
            if !self.at(Kind::Ident) {
                return Err(self.expected("an annotation's name"));
            }
            let token = self.bump();
            name.push_str(&self.text(token));
            if !self.eat(Kind::ColonColon) {
                return Ok(name);
            }
            name.push_str("::");
        }
    }

    /// Checks an annotation's arguments; converts their values to the expected types.
    fn check_annotation(
        &mut self,
        annotation: &mut Annotation,
        place: Place,
        places: &[ArgumentPlace],
    ) {
        let defined = self.annotation_defined(&annotation.name);
        let parameters = match defined {
            Some(id) => self.parameters_of(id),
            None if rt::is_rt(&annotation.name) => return self.check_timing(annotation, places),
            None => standard::parameters(&annotation.name),
        };
        let Some(parameters) = parameters else {
            self.warn_of_unknown(&annotation.name, place);
            return;
        };
        let name = annotation.name.clone();
        for (argument, at) in annotation.arguments.iter_mut().zip(places) {
            let at = at.value;
            let Ok(wanted) = self.wanted(&name, argument.name.as_deref(), &parameters, at) else {
                return;
            };
            // A fault was reported; the value stays as it was.
            let _ = self.check_argument(&mut argument.value, &wanted, at);
        }
        self.check_complete(annotation, &parameters, place);
        if defined.is_none() && event::is_event(&annotation.name) {
            self.keep_event(annotation, places);
        }
    }

    /// Returns the definition of the annotation `name`, which is searched from the current scope
    /// outwards.
    fn annotation_defined(&mut self, name: &str) -> Option<DeclId> {
        let (scope, simple) = name.rsplit_once("::").unwrap_or(("", name));
        let separator = if name.contains("::") { "::" } else { "" };
        let key = parameter::key(simple);
        match self.find_text(&format!("{scope}{separator}{key}"))? {
            Target::Declaration(id) => Some(id),
            _ => None,
        }
    }

    fn parameters_of(&self, definition: DeclId) -> Option<Vec<Parameter>> {
        let DeclKind::Annotation(definition) = &self.spec[definition].kind else {
            return None;
        };
        let parameter = |member: &crate::model::AnnotationMember| Parameter {
            name: member.name.clone(),
            wanted: match &member.ty {
                Type::Any => AllowedValues::Anything,
                ty => AllowedValues::Of(ty.clone()),
            },
            required: member.default.is_none(),
        };
        Some(definition.members.iter().map(parameter).collect())
    }

    /// Returns the values allowed for the argument `name`. An unnamed argument stands for the only
    /// parameter, or for the one called `value`.
    fn wanted(
        &mut self,
        annotation: &str,
        name: Option<&str>,
        parameters: &[Parameter],
        place: Place,
    ) -> Checked<AllowedValues> {
        let found = match (name, parameters) {
            (Some(name), _) => parameters.iter().find(|p| p.name == name),
            (None, [only]) => Some(only),
            (None, several) => several.iter().find(|p| p.name == "value"),
        };
        if let Some(parameter) = found {
            return Ok(parameter.wanted.clone());
        }
        if parameters.is_empty() {
            let message = format!("`@{annotation}` takes no arguments");
            return Err(self.error(place, message, "remove it"));
        }
        let names: Vec<String> = parameters.iter().map(|p| format!("`{}`", p.name)).collect();
        let names = names.join(", ");
        let message = match name {
            Some(name) => format!("`@{annotation}` has no `{name}`"),
            None => format!("`@{annotation}` takes its arguments by name"),
        };
        Err(self.error(place, message, &format!("it has {names}")))
    }

    fn check_argument(
        &mut self,
        value: &mut AnnotationValue,
        wanted: &AllowedValues,
        place: Place,
    ) -> Checked<()> {
        match wanted {
            AllowedValues::Anything => Ok(()),
            AllowedValues::Word(words) => self.check_word(value, words, place),
            AllowedValues::Of(ty) => {
                let ty = self.spec.resolve(ty).clone();
                let given = match (&*value, &ty) {
                    (AnnotationValue::Const(given), _) => given.clone(),
                    (AnnotationValue::Name(name), ty) => self.enumerator_of(ty, name, place)?,
                };
                *value = AnnotationValue::Const(self.coerce(given, &ty, place)?);
                Ok(())
            }
        }
    }

    /// Resolves a name as an enumerator of the type, which need not be in scope.
    fn enumerator_of(&mut self, ty: &Type, name: &str, place: Place) -> Checked<ConstValue> {
        let simple = name.rsplit("::").next().unwrap_or(name);
        let simple = simple.strip_prefix('_').unwrap_or(simple);
        if let Type::Named(id) = ty
            && let DeclKind::Enum(enumeration) = &self.spec[*id].kind
            && let Some(index) = enumeration
                .enumerators
                .iter()
                .position(|e| e.name == simple)
        {
            return Ok(ConstValue::Enumerator(*id, index));
        }
        let wanted = self.describe_type(ty);
        let message = format!("expected {wanted}, found `{name}`");
        Err(self.error(place, message, &format!("expected {wanted}")))
    }

    fn check_word(
        &mut self,
        value: &mut AnnotationValue,
        words: &[&str],
        place: Place,
    ) -> Checked<()> {
        let given = match &*value {
            AnnotationValue::Name(name) => name.clone(),
            AnnotationValue::Const(value) => self.show(value),
        };
        if words.contains(&given.as_str()) {
            *value = AnnotationValue::Name(given);
            return Ok(());
        }
        let message = format!("expected one of {}", words.join(", "));
        Err(self.error(place, message, "none of them"))
    }

    fn check_complete(&mut self, annotation: &Annotation, parameters: &[Parameter], place: Place) {
        let is_given = |parameter: &Parameter| annotation.argument(&parameter.name).is_some();
        let missing = parameters.iter().find(|p| p.required && !is_given(p));
        if let Some(parameter) = missing {
            let message = format!(
                "`@{}` lacks the parameter `{}`",
                annotation.name, parameter.name
            );
            let label = format!("expected `@{}(…)`", annotation.name);
            self.error(place, message, &label);
        }
    }

    fn warn_of_unknown(&mut self, name: &str, place: Place) {
        let message = format!("unknown annotation `@{name}`");
        let mut warning = self
            .session
            .warning_at(place, message, "kept, without effect");
        let known = standard::NAMES.iter().copied().chain([rt::NAME]);
        if let Some(near) = names::nearest(name, known) {
            warning = warning.with_help(format!("did you mean `@{near}`?"));
        }
        self.session.report(warning);
    }
}
