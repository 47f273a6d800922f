//! Names of operations.

/// Returns the scoped name of an operation: `IDL:omg.org/CosNaming/NamingContext:1.0` and `bind`
/// make `CosNaming::NamingContext::bind`.
pub(crate) fn scoped_name(interface: &str, operation: &str) -> String {
    let path = interface
        .strip_prefix("IDL:")
        .and_then(|id| id.rsplit_once(':'))
        .map_or(interface, |(path, _version)| path);
    // A prefix contains a dot, which no IDL name does.
    let names = path.split('/').skip_while(|name| name.contains('.'));
    let mut scoped = String::new();
    for name in names {
        scoped.push_str(name);
        scoped.push_str("::");
    }
    scoped + operation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoped_name_is_made_of_the_repository_id() {
        for (interface, name) in [
            ("IDL:Plant/Radar:1.0", "Plant::Radar::read"),
            (
                "IDL:omg.org/CosNaming/NamingContext:1.0",
                "CosNaming::NamingContext::read",
            ),
            ("IDL:Radar:1.0", "Radar::read"),
            ("RMI:x.y", "read"),
            ("DCE:1-2", "DCE:1-2::read"),
            ("", "::read"),
        ] {
            assert_eq!(scoped_name(interface, "read"), name, "{interface}");
        }
    }
}
