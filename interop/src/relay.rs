//! Generator of a C++ class that relays each call to another object, made from the example servant
//! that `omniidl` writes.
//!
//! The example names every operation with the signature that its servant must have; the relaying
//! body, which calls the same operation of another object, has one form for all of them.

/// Returns the source text of the class `relay_MODULE_INTERFACE`, given the text of the example
/// servant; `None` if that text is not as expected.
pub(crate) fn class(example: &str, module: &str, interface: &str) -> Option<String> {
    let class = format!("class {module}_{interface}_i ");
    let (_, after) = example.split_once(&class)?;
    let (_, after) = after.split_once("// methods corresponding to defined IDL")?;
    let (_, after) = after.split_once('\n')?;
    let (methods, _) = after.split_once("\n};")?;
    let scoped = format!("{module}::{interface}");
    let mut text = format!(
        "#include \"{module}.hh\"\n\n\
         class relay_{module}_{interface} : public POA_{scoped} {{\npublic:\n  \
         explicit relay_{module}_{interface}({scoped}_ptr target)\n    \
         : target_({scoped}::_duplicate(target)) {{}}\n\n"
    );
    for line in methods
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        text.push_str("  ");
        text.push_str(&method(line)?);
        text.push('\n');
    }
    text.push_str(&format!("\nprivate:\n  {scoped}_var target_;\n}};\n"));
    Some(text)
}

/// Returns the source text of one relaying method, given its declaration `RESULT
/// NAME(PARAMETERS);`. Declarations of attributes have neither a semicolon nor parameter names.
fn method(line: &str) -> Option<String> {
    let signature = line.strip_suffix(';');
    let is_attribute = signature.is_none();
    let (head, parameters) = signature.unwrap_or(line).split_once('(')?;
    let parameters = parameters.strip_suffix(')')?;
    let (result, name) = head.rsplit_once(' ')?;
    let mut declared: Vec<String> = Vec::new();
    let mut passed = Vec::new();
    for parameter in parameters
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        if is_attribute {
            declared.push(format!("{parameter} value"));
            passed.push("value");
        } else {
            declared.push(parameter.to_owned());
            passed.push(parameter.rsplit([' ', '&', '*']).next()?);
        }
    }
    let returns = if result == "void" { "" } else { "return " };
    let (declared, passed) = (declared.join(", "), passed.join(", "));
    Some(format!(
        "{result} {name}({declared}) override {{ {returns}target_->{name}({passed}); }}"
    ))
}
