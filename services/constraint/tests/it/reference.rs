//! Evaluation by another way: recursive, over expressions as trees and values that are decoded whole.

use std::fmt;

use punctual_any::{Any, Label, TypeCode, TypeKind, Value};
use punctual_constraint::Failure;

/// Expression, from which texts are made.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Load(Path),
    Exist(Path),
    Default(Path),
    In(Box<Self>, Path),
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
}

/// Component of an event.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) variable: Option<String>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Member(String),
    Position(usize),
    Element(usize),
    Named(String),
    Union(i128),
    UnionNamed(String),
    UnionDefault,
    Length,
    Discriminator,
    TypeId,
    ReposId,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.variable.as_deref().unwrap_or_default())?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(f, ".{name}"),
            Step::Position(at) => write!(f, ".{at}"),
            Step::Element(at) => write!(f, "[{at}]"),
            Step::Named(name) => write!(f, "({name})"),
            Step::Union(number) => write!(f, ".({number})"),
            Step::UnionNamed(name) => write!(f, ".('{name}')"),
            Step::UnionDefault => f.write_str(".()"),
            Step::Length => f.write_str("._length"),
            Step::Discriminator => f.write_str("._d"),
            Step::TypeId => f.write_str("._type_id"),
            Step::ReposId => f.write_str("._repos_id"),
        })
    }
}

impl Expression {
    /// Returns how tight the outermost operator binds.
    fn level(&self) -> u8 {
        match self {
            Self::Binary("or", ..) => 0,
            Self::Binary("and", ..) => 1,
            Self::Binary("==" | "!=" | "<" | "<=" | ">" | ">=", ..) => 2,
            Self::In(..) => 3,
            Self::Binary("~", ..) => 4,
            Self::Binary("+" | "-", ..) => 5,
            Self::Binary(..) => 6,
            Self::Not(_) => 7,
            Self::Negate(_) => 8,
            _ => 9,
        }
    }

    fn show(&self, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level() < least {
            true => write!(f, "({self})"),
            false => write!(f, "{self}"),
        }
    }
}

/// Shows the expression with as few parentheses as possible.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level();
        match self {
            Self::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Load(path) => write!(f, "{path}"),
            Self::Exist(path) => write!(f, "exist {path}"),
            Self::Default(path) => write!(f, "default {path}"),
            Self::In(value, path) => {
                value.show(level + 1, f)?;
                write!(f, " in {path}")
            }
            Self::Not(operand) => {
                f.write_str("not ")?;
                operand.show(level, f)
            }
            Self::Negate(operand) => {
                f.write_str("- ")?;
                operand.show(level, f)
            }
            Self::Binary(operator, left, right) => {
                let chains = !matches!(level, 2 | 4);
                left.show(if chains { level } else { level + 1 }, f)?;
                write!(f, " {operator} ")?;
                right.show(level + 1, f)
            }
        }
    }
}

/// Value without parts.
#[derive(Clone, Debug)]
enum Operand {
    Boolean(bool),
    Integer(i128),
    Real(f64),
    Text(String),
    Enumerator(TypeCode, u32),
}

/// Part of an event.
#[derive(Clone, Debug)]
enum Part {
    Value(TypeCode, Value),
    Found(Operand),
}

/// Evaluates an expression over a structured event, which is a value.
pub(crate) fn evaluate(expression: &Expression, event: &Any) -> Result<bool, Failure> {
    boolean(operand(expression, event)?)
}

fn boolean(operand: Operand) -> Result<bool, Failure> {
    match operand {
        Operand::Boolean(value) => Ok(value),
        _ => Err(Failure::Type),
    }
}

fn operand(expression: &Expression, event: &Any) -> Result<Operand, Failure> {
    Ok(match expression {
        Expression::Boolean(value) => Operand::Boolean(*value),
        Expression::Integer(number) => Operand::Integer((*number).into()),
        Expression::Real(number) => Operand::Real(*number),
        Expression::Text(text) => Operand::Text(text.clone()),
        Expression::Load(path) => value(find(path, event).ok_or(Failure::Absent)?)?,
        Expression::Exist(path) => Operand::Boolean(find(path, event).is_some()),
        Expression::Default(path) => {
            let mut union = path.clone();
            union
                .steps
                .pop_if(|last| matches!(last, Step::Discriminator));
            Operand::Boolean(is_default(find(&union, event)).ok_or(Failure::Absent)?)
        }
        Expression::In(left, path) => {
            let left = operand(left, event)?;
            let list = find(path, event)
                .and_then(elements)
                .ok_or(Failure::Absent)?;
            Operand::Boolean(is_in(&left, list)?)
        }
        Expression::Not(right) => Operand::Boolean(!boolean(operand(right, event)?)?),
        Expression::Negate(right) => match operand(right, event)? {
            Operand::Real(number) => Operand::Real(-number),
            right => Operand::Integer(-integer(&right).ok_or(Failure::Type)?),
        },
        Expression::Binary("and", left, right) => {
            Operand::Boolean(boolean(operand(left, event)?)? && boolean(operand(right, event)?)?)
        }
        Expression::Binary("or", left, right) => {
            Operand::Boolean(boolean(operand(left, event)?)? || boolean(operand(right, event)?)?)
        }
        Expression::Binary(operator, left, right) => {
            binary(operator, operand(left, event)?, operand(right, event)?)?
        }
    })
}

fn binary(operator: &str, left: Operand, right: Operand) -> Result<Operand, Failure> {
    if operator == "~" {
        let (left, right) = text(&left).zip(text(&right)).ok_or(Failure::Type)?;
        return Ok(Operand::Boolean(right.contains(&left)));
    }
    if matches!(operator, "+" | "-" | "*" | "/") {
        return compute(operator, &left, &right);
    }
    if let (Operand::Enumerator(its, number), Operand::Text(label))
    | (Operand::Text(label), Operand::Enumerator(its, number)) = (&left, &right)
        && matches!(operator, "==" | "!=")
    {
        let is_equal = its.member_name(*number as usize) == Ok(label);
        return Ok(Operand::Boolean(is_equal == (operator == "==")));
    }
    let order = order(&left, &right)?;
    Ok(Operand::Boolean(match operator {
        "==" => order.is_some_and(|order| order.is_eq()),
        "!=" => !order.is_some_and(|order| order.is_eq()),
        "<" => order.is_some_and(|order| order.is_lt()),
        "<=" => order.is_some_and(|order| order.is_le()),
        ">" => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    }))
}

fn order(left: &Operand, right: &Operand) -> Result<Option<std::cmp::Ordering>, Failure> {
    let place = |its: &TypeCode, label: &str| its.member_index(label);
    match (left, right) {
        (Operand::Text(left), Operand::Text(right)) => Ok(Some(left.cmp(right))),
        (Operand::Enumerator(its, number), Operand::Text(label)) => {
            Ok(place(its, label).map(|at| (*number as usize).cmp(&at)))
        }
        (Operand::Text(label), Operand::Enumerator(its, number)) => {
            Ok(place(its, label).map(|at| at.cmp(&(*number as usize))))
        }
        (Operand::Enumerator(its, left), Operand::Enumerator(other, right)) => {
            match its.equivalent(other) {
                true => Ok(Some(left.cmp(right))),
                false => Err(Failure::Type),
            }
        }
        _ => match integer(left).zip(integer(right)) {
            Some((left, right)) => Ok(Some(left.cmp(&right))),
            None => {
                let (left, right) = real(left).zip(real(right)).ok_or(Failure::Type)?;
                Ok(left.partial_cmp(&right))
            }
        },
    }
}

fn compute(operator: &str, left: &Operand, right: &Operand) -> Result<Operand, Failure> {
    if let Some((left, right)) = integer(left).zip(integer(right)) {
        let result = match operator {
            "+" => left.checked_add(right),
            "-" => left.checked_sub(right),
            "*" => left.checked_mul(right),
            _ if right == 0 => return Err(Failure::DivisionByZero),
            _ => left.checked_div(right),
        };
        return result.map(Operand::Integer).ok_or(Failure::Overflow);
    }
    let (left, right) = real(left).zip(real(right)).ok_or(Failure::Type)?;
    Ok(Operand::Real(match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        _ if right == 0.0 => return Err(Failure::DivisionByZero),
        _ => left / right,
    }))
}

fn integer(operand: &Operand) -> Option<i128> {
    match operand {
        Operand::Boolean(value) => Some(i128::from(*value)),
        Operand::Integer(number) => Some(*number),
        Operand::Enumerator(_, number) => Some((*number).into()),
        Operand::Real(_) | Operand::Text(_) => None,
    }
}

#[allow(clippy::cast_precision_loss)]
fn real(operand: &Operand) -> Option<f64> {
    match operand {
        Operand::Real(number) => Some(*number),
        operand => integer(operand).map(|number| number as f64),
    }
}

fn text(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Text(text) => Some(text.clone()),
        Operand::Enumerator(its, number) => its.member_name(*number as usize).ok().map(Into::into),
        _ => None,
    }
}

fn is_in(left: &Operand, list: Vec<Part>) -> Result<bool, Failure> {
    for element in list {
        match binary("==", left.clone(), value(element)?) {
            Ok(Operand::Boolean(true)) => return Ok(true),
            Ok(_) | Err(Failure::Type) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(false)
}

/// Returns what an Any holds, and an Any within it.
fn unwrap(part: Part) -> Part {
    match part {
        Part::Value(_, Value::Any(any)) => {
            unwrap(Part::Value(any.type_code().clone(), any.value().unwrap()))
        }
        part => part,
    }
}

fn value(part: Part) -> Result<Operand, Failure> {
    let (its, value) = match unwrap(part) {
        Part::Value(its, value) => (its, value),
        Part::Found(operand) => return Ok(operand),
    };
    Ok(match value {
        Value::Boolean(value) => Operand::Boolean(value),
        Value::Octet(number) => Operand::Integer(number.into()),
        Value::Short(number) => Operand::Integer(number.into()),
        Value::Long(number) => Operand::Integer(number.into()),
        Value::ULong(number) => Operand::Integer(number.into()),
        Value::LongLong(number) => Operand::Integer(number.into()),
        Value::ULongLong(number) => Operand::Integer(number.into()),
        Value::Float(number) => Operand::Real(number.into()),
        Value::Double(number) => Operand::Real(number),
        Value::Char(one) => Operand::Text(char::from(one).into()),
        Value::WChar(one) => Operand::Text(one.into()),
        Value::String(text) => Operand::Text(text),
        Value::Enum(number) => Operand::Enumerator(its.original_type(), number),
        _ => return Err(Failure::Type),
    })
}

/// Returns the part that a path leads to.
fn find(path: &Path, event: &Any) -> Option<Part> {
    let whole = Part::Value(event.type_code().clone(), event.value().unwrap());
    let begin = match &path.variable {
        None => whole,
        Some(name) => variable(name, &whole)?,
    };
    follow(begin, &path.steps)
}

fn variable(name: &str, whole: &Part) -> Option<Part> {
    let member = |names: &[&str]| {
        let steps: Vec<Step> = names
            .iter()
            .map(|name| Step::Member((*name).into()))
            .collect();
        follow(whole.clone(), &steps)
    };
    match name {
        "event_name" => return member(&["header", "fixed_header", name]),
        "domain_name" | "type_name" => {
            return member(&["header", "fixed_header", "event_type", name]);
        }
        _ => {}
    }
    let property = |list: Option<Part>| follow(list?, &[Step::Named(name.into())]);
    property(member(&["header", "variable_header"]))
        .or_else(|| property(member(&["filterable_data"])))
        .or_else(|| member(&[name]))
}

fn follow(begin: Part, steps: &[Step]) -> Option<Part> {
    steps
        .iter()
        .try_fold(begin, |part, step| next(unwrap(part), step))
}

fn next(part: Part, step: &Step) -> Option<Part> {
    let Part::Value(its, value) = &part else {
        return None;
    };
    let named = |text: &str| (!text.is_empty()).then(|| Part::Found(Operand::Text(text.into())));
    match step {
        Step::TypeId => return named(its.name().ok()?),
        Step::ReposId => return named(its.id().ok()?),
        _ => {}
    }
    let original = its.original_type();
    match (value, step) {
        (Value::Struct(values), Step::Member(name)) => {
            let at = original.member_index(name)?;
            Some(Part::Value(
                original.member_type(at).ok()?,
                values[at].clone(),
            ))
        }
        (Value::Struct(values), Step::Position(at)) => Some(Part::Value(
            original.member_type(*at).ok()?,
            values.get(*at)?.clone(),
        )),
        (Value::Union(union), step) => {
            let member = original.member_chosen(union.discriminator).ok()?;
            if let Step::Discriminator = step {
                return discriminator(&original, union.discriminator);
            }
            let member =
                member.filter(|member| is_meant(&original, union.discriminator, *member, step))?;
            Some(Part::Value(
                original.member_type(member).ok()?,
                union.member.clone()?,
            ))
        }
        (_, Step::Length) => {
            let count = i128::try_from(elements(part)?.len()).unwrap();
            Some(Part::Found(Operand::Integer(count)))
        }
        (_, Step::Element(at)) => elements(part)?.into_iter().nth(*at),
        (_, Step::Named(name)) => elements(part)?.into_iter().find_map(|entry| match &entry {
            Part::Value(_, Value::Struct(values)) if values[0] == Value::String(name.clone()) => {
                next(entry, &Step::Position(1))
            }
            _ => None,
        }),
        _ => None,
    }
}

fn is_meant(its: &TypeCode, discriminator: i128, member: usize, step: &Step) -> bool {
    match step {
        Step::Member(name) => its.member_name(member) == Ok(name),
        Step::Union(number) => *number == discriminator,
        Step::UnionDefault => its.member_label(member) == Ok(Label::Default),
        Step::UnionNamed(name) => {
            let chosen = its.discriminator_type().unwrap();
            let label = usize::try_from(discriminator).ok();
            let is_label = label.is_some_and(|label| chosen.member_name(label) == Ok(name));
            is_label || its.member_name(member) == Ok(name)
        }
        _ => false,
    }
}

fn discriminator(its: &TypeCode, number: i128) -> Option<Part> {
    let chosen = its.discriminator_type().ok()?;
    Some(Part::Found(match chosen.original_type().kind() {
        TypeKind::Enum => Operand::Enumerator(chosen.original_type(), u32::try_from(number).ok()?),
        _ => Operand::Integer(number),
    }))
}

fn is_default(part: Option<Part>) -> Option<bool> {
    let Part::Value(its, Value::Union(union)) = unwrap(part?) else {
        return None;
    };
    let member = its
        .original_type()
        .member_chosen(union.discriminator)
        .ok()?;
    Some(member.is_some() && its.original_type().default_index() == Ok(member))
}

fn elements(part: Part) -> Option<Vec<Part>> {
    let Part::Value(its, Value::Sequence(elements)) = unwrap(part) else {
        return None;
    };
    let element = its.original_type().content_type().ok()?;
    let values = elements.to_vec().unwrap();
    Some(
        values
            .into_iter()
            .map(|value| Part::Value(element.clone(), value))
            .collect(),
    )
}
