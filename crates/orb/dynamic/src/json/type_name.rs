//! Types by their names, as IDL writes them.

use std::borrow::Cow;

use punctual_any::{TypeBuilder, TypeCode, TypeIndex};

use super::names::Names;

/// Returns the type that a text names, as IDL writes it: `unsigned long`, `string<8>`,
/// `sequence<Zoo::Animal, 4>`, `map<string, long>`, `double[3]`, `CORBA::TypeCode`, a scoped name
/// or a repository id. Scoped names may begin with `::`.
#[must_use]
pub fn parse_type(text: &str, names: &dyn Names) -> Option<TypeCode> {
    let text = text.trim();
    if !is_composed(text) {
        return named(text, names);
    }
    let mut types = TypeBuilder::default();
    let root = parse(text, names, &mut types, 0)?;
    Some(types.finish(root))
}

/// Upper bound of the nesting of type names, as in `sequence<sequence<long>>`.
const DEEPEST: u8 = 32;

/// Returns whether the name is that of an array or of a template type such as `sequence<long>` or
/// `string<8>`.
fn is_composed(text: &str) -> bool {
    text.ends_with(']') || (text.ends_with('>') && text.contains('<'))
}

/// Parses a type name, and adds the type to those being built; `depth` is its nesting.
fn parse(text: &str, names: &dyn Names, types: &mut TypeBuilder, depth: u8) -> Option<TypeIndex> {
    let text = text.trim();
    if depth == DEEPEST {
        return None;
    }
    if text.ends_with(']') {
        return of_arrays(text, names, types, depth + 1);
    }
    if let Some((template, arguments)) =
        text.strip_suffix('>').and_then(|text| text.split_once('<'))
    {
        return of_template(template.trim(), arguments, names, types, depth + 1);
    }
    Some(types.include(&named(text, names)?))
}

/// Returns the type that a keyword or a scoped name denotes.
fn named(text: &str, names: &dyn Names) -> Option<TypeCode> {
    let is_plain =
        !text.contains("  ") && !text.contains(|one: char| one != ' ' && one.is_whitespace());
    let text = if is_plain {
        Cow::Borrowed(text)
    } else {
        let words: Vec<&str> = text.split_whitespace().collect();
        Cow::Owned(words.join(" "))
    };
    let mut simple = SIMPLE.into_iter();
    if let Some(simple) = simple.find(|one| one.kind().keyword() == text) {
        return Some(simple);
    }
    let scoped = text.strip_prefix("::").unwrap_or(&text).trim_start();
    if let Some(name) = scoped.strip_prefix("CORBA::")
        && let Some(of_corba) = of_corba(name)
    {
        return Some(of_corba);
    }
    match scoped {
        "Object" => Some(of_corba("Object")?),
        "int8" => Some(<i8 as punctual_any::Typed>::type_code()),
        "uint8" => Some(TypeCode::OCTET),
        "int16" => Some(TypeCode::SHORT),
        "uint16" => Some(TypeCode::USHORT),
        "int32" => Some(TypeCode::LONG),
        "uint32" => Some(TypeCode::ULONG),
        "int64" => Some(TypeCode::LONG_LONG),
        "uint64" => Some(TypeCode::ULONG_LONG),
        // The name as written, for resolvers that accept `::`, then without it.
        name => names.type_code(&text).or_else(|| names.type_code(name)),
    }
}

/// Returns the types of module CORBA that have TypeCodes of their own: its pseudo-objects that can
/// be sent, and its sequences of simple types (CORBA 3.3 part 1, §8.2.2).
fn of_corba(name: &str) -> Option<TypeCode> {
    let id = format!("IDL:omg.org/CORBA/{name}:1.0");
    match name {
        "TypeCode" => return Some(TypeCode::TYPE_CODE),
        "Object" => return Some(TypeCode::interface(&id, name)),
        "AbstractBase" => return Some(TypeCode::abstract_interface(&id, name)),
        "StringValue" => return Some(TypeCode::value_box(&id, name, &TypeCode::string(0))),
        "WStringValue" => return Some(TypeCode::value_box(&id, name, &TypeCode::wstring(0))),
        _ => {}
    }
    let element = match name.strip_suffix("Seq")? {
        "Any" => "any",
        "Boolean" => "boolean",
        "Char" => "char",
        "WChar" => "wchar",
        "Octet" => "octet",
        "Short" => "short",
        "UShort" => "unsigned short",
        "Long" => "long",
        "ULong" => "unsigned long",
        "LongLong" => "long long",
        "ULongLong" => "unsigned long long",
        "Float" => "float",
        "Double" => "double",
        "LongDouble" => "long double",
        "String" => "string",
        "WString" => "wstring",
        _ => return None,
    };
    let of = TypeCode::sequence(&named(element, &super::names::NoNames)?, 0);
    Some(TypeCode::alias(&id, name, &of))
}

/// Parses the name of an array type: `T[3][2]` is three arrays of two elements of type `T`.
fn of_arrays(
    text: &str,
    names: &dyn Names,
    types: &mut TypeBuilder,
    depth: u8,
) -> Option<TypeIndex> {
    let template_end = text.rfind('>').map_or(0, |at| at + 1);
    let start = template_end + text.get(template_end..)?.find('[')?;
    let (of, lengths) = text.split_at(start);
    let mut of = parse(of, names, types, depth)?;
    // The innermost length is written last. No bracket precedes the first.
    let (_, lengths) = lengths.split_once('[')?;
    for length in lengths.rsplit('[') {
        let length = length.trim().strip_suffix(']')?.trim().parse().ok()?;
        of = types.array(of, length);
    }
    Some(of)
}

/// Basic IDL types that are denoted by keywords.
const SIMPLE: [TypeCode; 20] = [
    TypeCode::NULL,
    TypeCode::VOID,
    TypeCode::SHORT,
    TypeCode::LONG,
    TypeCode::USHORT,
    TypeCode::ULONG,
    TypeCode::FLOAT,
    TypeCode::DOUBLE,
    TypeCode::BOOLEAN,
    TypeCode::CHAR,
    TypeCode::OCTET,
    TypeCode::ANY,
    TypeCode::TYPE_CODE,
    TypeCode::PRINCIPAL,
    TypeCode::LONG_LONG,
    TypeCode::ULONG_LONG,
    TypeCode::LONG_DOUBLE,
    TypeCode::WCHAR,
    TypeCode::STRING,
    TypeCode::WSTRING,
];

fn of_template(
    template: &str,
    arguments: &str,
    names: &dyn Names,
    types: &mut TypeBuilder,
    depth: u8,
) -> Option<TypeIndex> {
    // The bound is behind the last comma that is not within another template.
    let bounded = arguments
        .rsplit_once(',')
        .and_then(|(of, bound)| Some((of, bound.trim().parse().ok()?)));
    match template {
        "string" => Some(types.string(arguments.trim().parse().ok()?)),
        "wstring" => Some(types.wstring(arguments.trim().parse().ok()?)),
        "sequence" => {
            let (of, bound) = bounded.unwrap_or((arguments, 0));
            let of = parse(of, names, types, depth)?;
            Some(types.sequence(of, bound))
        }
        "map" => {
            let (key, value) = arguments.split_once(',')?;
            let key = parse(key, names, types, depth)?;
            let value = parse(value, names, types, depth)?;
            let pair = types.structure("", "", |_| vec![("key", key), ("value", value)]);
            Some(types.sequence(pair, 0))
        }
        "fixed" => {
            let (digits, scale) = arguments.split_once(',')?;
            let (digits, scale) = (digits.trim().parse().ok()?, scale.trim().parse().ok()?);
            let is_one = TypeCode::fixed(digits, scale).check().is_ok();
            is_one.then(|| types.fixed(digits, scale))
        }
        _ => None,
    }
}
