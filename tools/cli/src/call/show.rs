//! Printing of interfaces as IDL, and of JSON.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use punctual::TypeCode;
use punctual::any::{Label, TypeKind, ValueModifier, Visibility};
use punctual::description::{
    AttributeDescription, InterfaceDescription, OperationDescription, ParameterMode,
};

use crate::shown;

const KEYWORD: Style = AnsiColor::Magenta.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();

/// Returns the interface's scoped name.
pub(crate) fn scoped(interface: &InterfaceDescription) -> String {
    match interface.type_code.kind() {
        TypeKind::Null => shown::peer(&interface.name),
        _ => shown::peer(&interface.type_code),
    }
}

/// Prints an interface with all operations and attributes.
pub(super) fn interface(interface: &InterfaceDescription) {
    let bases: Vec<String> = interface
        .bases
        .iter()
        .map(|id| shown::peer(TypeCode::interface(id, "")))
        .collect();
    let bases = match bases.as_slice() {
        [] => String::new(),
        bases => format!(" : {}", bases.join(", ")),
    };
    anstream::println!(
        "{KEYWORD}interface{KEYWORD:#} {}{bases} {{",
        scoped(interface)
    );
    for operation in &interface.operations {
        anstream::println!("    {};", coloured(operation));
    }
    for one in &interface.attributes {
        anstream::println!("    {};", attribute(one));
    }
    anstream::println!("}};");
}

/// Prints an operation, and the types that it mentions.
pub(super) fn operation(operation: &OperationDescription) {
    let mut definitions = Definitions::default();
    let types = operation.parameters.iter().map(|one| &one.type_code);
    let types = types.chain([&operation.result]);
    for type_code in types.chain(operation.exceptions.iter().map(|one| &one.type_code)) {
        definitions.collect(type_code);
    }
    for type_code in &definitions.defined {
        if let Some(text) = definition(type_code) {
            anstream::println!("{text}");
        }
    }
    anstream::println!("{};", coloured(operation));
}

/// Returns an operation as one line of IDL.
pub(super) fn signature(operation: &OperationDescription) -> String {
    anstream::adapter::strip_str(&coloured(operation)).to_string()
}

fn coloured(operation: &OperationDescription) -> String {
    let parameters = operation.parameters.iter().map(|one| {
        let mode = match one.mode {
            ParameterMode::In => "in",
            ParameterMode::Out => "out",
            ParameterMode::InOut => "inout",
        };
        let (of, name) = (shown::peer(&one.type_code), shown::peer(&one.name));
        format!("{KEYWORD}{mode}{KEYWORD:#} {of} {name}")
    });
    let parameters: Vec<String> = parameters.collect();
    let oneway = match operation.oneway {
        true => format!("{KEYWORD}oneway{KEYWORD:#} "),
        false => String::new(),
    };
    let raised: Vec<String> = operation
        .exceptions
        .iter()
        .map(|one| shown::peer(&one.type_code))
        .collect();
    let raises = match raised.as_slice() {
        [] => String::new(),
        raised => format!(" {KEYWORD}raises{KEYWORD:#} ({})", raised.join(", ")),
    };
    format!(
        "{oneway}{} {NAME}{}{NAME:#}({}){raises}",
        shown::peer(&operation.result),
        shown::peer(&operation.name),
        parameters.join(", ")
    )
}

fn attribute(attribute: &AttributeDescription) -> String {
    let readonly = if attribute.readonly { "readonly " } else { "" };
    format!(
        "{KEYWORD}{readonly}attribute{KEYWORD:#} {} {NAME}{}{NAME:#}",
        shown::peer(&attribute.type_code),
        shown::peer(&attribute.name)
    )
}

/// Returns the types of which a type is composed.
pub(super) fn parts(type_code: &TypeCode) -> Vec<TypeCode> {
    let count = match type_code.kind() {
        TypeKind::Enum => 0,
        _ => type_code.member_count().unwrap_or(0),
    };
    let members = (0..count).filter_map(|index| type_code.member_type(index).ok());
    let others = [type_code.content_type(), type_code.discriminator_type()];
    let base = type_code.concrete_base_type().ok().flatten();
    others
        .into_iter()
        .flatten()
        .chain(base)
        .chain(members)
        .collect()
}

/// Maximum number of parts of types that are examined: a description may come from a malicious
/// repository.
pub(super) const MOST_PARTS: usize = 10_000;

/// Maximum nesting of the parts.
const DEEPEST: usize = 64;

/// Collects the named types of which types are composed, each once, and each before the types that
/// use it.
#[derive(Default)]
struct Definitions {
    seen: Vec<String>,
    looked_at: usize,
    depth: usize,
    defined: Vec<TypeCode>,
}

impl Definitions {
    fn collect(&mut self, type_code: &TypeCode) {
        self.looked_at += 1;
        let id = type_code.id().unwrap_or_default();
        let is_known = !id.is_empty() && self.seen.iter().any(|one| one == id);
        if is_known || self.looked_at > MOST_PARTS || self.depth > DEEPEST {
            return;
        }
        if !id.is_empty() {
            self.seen.push(id.to_owned());
        }
        self.depth += 1;
        for part in parts(type_code) {
            self.collect(&part);
        }
        self.depth -= 1;
        if !id.is_empty() {
            self.defined.push(type_code.clone());
        }
    }
}

/// Returns the IDL declaration of a type; `None` for types without members.
fn definition(type_code: &TypeCode) -> Option<String> {
    let name = shown::peer(type_code);
    let keyword = type_code.kind().keyword();
    let members = || -> Option<String> {
        let mut text = String::new();
        for index in 0..type_code.member_count().ok()? {
            let label = label(type_code, index).unwrap_or_default();
            let of = type_code.member_type(index).ok()?;
            let declared = declared(&of, type_code.member_name(index).ok()?);
            let _ = writeln!(text, "    {label}{declared};");
        }
        Some(text)
    };
    Some(match type_code.kind() {
        TypeKind::Struct | TypeKind::Except => {
            format!("{KEYWORD}{keyword}{KEYWORD:#} {name} {{\n{}}};", members()?)
        }
        TypeKind::Union => {
            let over = type_code.discriminator_type().ok()?;
            format!(
                "{KEYWORD}union{KEYWORD:#} {name} {KEYWORD}switch{KEYWORD:#} ({}) {{\n{}}};",
                shown::peer(over),
                members()?
            )
        }
        TypeKind::Enum => {
            let count = type_code.member_count().ok()?;
            let names = (0..count).filter_map(|index| type_code.member_name(index).ok());
            let names: Vec<&str> = names.collect();
            format!(
                "{KEYWORD}enum{KEYWORD:#} {name} {{ {} }};",
                shown::peer(names.join(", "))
            )
        }
        TypeKind::Alias => {
            let of = type_code.content_type().ok()?;
            format!("{KEYWORD}typedef{KEYWORD:#} {};", declared(&of, &name))
        }
        TypeKind::Value => {
            let base = type_code.concrete_base_type().ok()?;
            let base = base.map_or(String::new(), |base| format!(" : {}", shown::peer(base)));
            let sort = match type_code.type_modifier().ok()? {
                ValueModifier::Custom => "custom ",
                ValueModifier::Abstract => "abstract ",
                _ => "",
            };
            format!(
                "{KEYWORD}{sort}valuetype{KEYWORD:#} {name}{base} {{\n{}}};",
                members()?
            )
        }
        TypeKind::ValueBox => {
            let of = type_code.content_type().ok()?;
            format!("{KEYWORD}valuetype{KEYWORD:#} {name} {};", shown::peer(of))
        }
        _ => return None,
    })
}

/// Returns the text before a member: a union's label, or a visibility.
fn label(type_code: &TypeCode, index: usize) -> Option<String> {
    if let Ok(visibility) = type_code.member_visibility(index) {
        let visibility = match visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
        };
        return Some(format!("{KEYWORD}{visibility}{KEYWORD:#} "));
    }
    let number = match type_code.member_label(index).ok()? {
        Label::Default => return Some(format!("{KEYWORD}default{KEYWORD:#}: ")),
        Label::Value(number) => number,
    };
    let over = type_code.discriminator_type().ok()?.original_type();
    let character = || u32::try_from(number).ok().and_then(char::from_u32);
    let text = match over.kind() {
        TypeKind::Enum => over
            .member_name(usize::try_from(number).ok()?)
            .ok()?
            .to_owned(),
        TypeKind::Boolean => if number == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        TypeKind::Char | TypeKind::WChar => format!("'{}'", character()?.escape_default()),
        _ => number.to_string(),
    };
    Some(format!("{KEYWORD}case{KEYWORD:#} {}: ", shown::peer(text)))
}

/// Returns a declarator: `long name[3]`.
fn declared(type_code: &TypeCode, name: &str) -> String {
    let (whole, name) = (shown::peer(type_code), shown::peer(name));
    match type_code.kind() {
        TypeKind::Array => {
            let end = whole.rfind('>').map_or(0, |at| at + 1);
            let start = whole.get(end..).and_then(|text| text.find('['));
            let (of, lengths) = whole.split_at(start.map_or(whole.len(), |start| end + start));
            format!("{of} {name}{lengths}")
        }
        _ => format!("{whole} {name}"),
    }
}

/// Formats compact JSON over several lines. Arrays and objects of few simple parts stay on one.
pub(super) fn json(compact: &str, stay_compact: bool, names: AnsiColor) -> String {
    if stay_compact {
        return compact.to_owned();
    }
    let mut layout = Layout {
        text: String::with_capacity(compact.len() * 2),
        depth: 0,
        names: names.on_default(),
    };
    layout.lay_out(compact);
    layout.text
}

struct Layout {
    text: String,
    depth: usize,
    names: Style,
}

/// Maximum length of a line, including its indentation.
const LINE: usize = 72;

impl Layout {
    fn lay_out(&mut self, compact: &str) {
        let mut rest = compact;
        while let Some(first) = rest.chars().next() {
            let width = match first {
                '"' => string_end(rest),
                '[' | '{' => self.begin(rest),
                _ => {
                    self.mark(first);
                    first.len_utf8()
                }
            };
            let (token, behind) = rest.split_at(width);
            if first == '"' {
                self.string(token, behind.starts_with(':'));
            }
            rest = behind;
        }
    }

    fn string(&mut self, token: &str, is_name: bool) {
        let style = self.names;
        let _ = match is_name {
            true => write!(self.text, "{style}{token}{style:#}"),
            false => write!(self.text, "{token}"),
        };
    }

    /// Begins an array or object, or formats all of it if it is short. Returns the number of bytes
    /// consumed.
    fn begin(&mut self, rest: &str) -> usize {
        if let Some(end) = simple_end(rest) {
            let (whole, _) = rest.split_at(end);
            self.inline(whole);
            return end;
        }
        self.text.push_str(rest.get(..1).unwrap_or_default());
        self.depth += 1;
        self.line();
        1
    }

    /// Formats an array or object on the current line.
    fn inline(&mut self, whole: &str) {
        let mut rest = whole;
        while let Some(first) = rest.chars().next() {
            let width = match first {
                '"' => string_end(rest),
                _ => first.len_utf8(),
            };
            let (token, behind) = rest.split_at(width);
            match first {
                '"' => self.string(token, behind.starts_with(':')),
                ',' => self.text.push_str(", "),
                ':' => self.text.push_str(": "),
                '{' => self.text.push_str("{ "),
                '}' => self.text.push_str(" }"),
                _ => self.text.push_str(token),
            }
            rest = behind;
        }
    }

    fn mark(&mut self, mark: char) {
        match mark {
            ',' => {
                self.text.push(',');
                self.line();
            }
            ':' => self.text.push_str(": "),
            ']' | '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.line();
                self.text.push(mark);
            }
            other => self.text.push(other),
        }
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.push_str(&"  ".repeat(self.depth));
    }
}

/// Returns the end of the string at the beginning of a text.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, octet) in text.bytes().enumerate().skip(1) {
        match octet {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the end of the array or object at the beginning of a text, if it is short and not
/// nested.
fn simple_end(text: &str) -> Option<usize> {
    let mut at = 1;
    while at < text.len().min(LINE) {
        let rest = text.get(at..)?;
        at += match rest.chars().next()? {
            '"' => string_end(rest),
            '[' | '{' => return None,
            ']' | '}' => return Some(at + 1),
            other => other.len_utf8(),
        };
    }
    // An empty one is short anyway.
    None
}
