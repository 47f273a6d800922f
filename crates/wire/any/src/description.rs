//! Interfaces as data: descriptions from an Interface Repository (CORBA 3.3 part 1, §14.5), from
//! which calls are assembled at run time.

use crate::type_code::TypeCode;

/// Description of an interface with everything it inherits (`FullInterfaceDescription`).
#[derive(Clone, Debug, Default)]
pub struct InterfaceDescription {
    /// Simple name of the interface.
    pub name: String,
    /// Repository id of the interface.
    pub id: String,
    /// Repository id of the enclosing scope; empty for the outermost.
    pub defined_in: String,
    /// Version of the interface, usually `1.0`.
    pub version: String,
    /// Operations of the interface, including inherited ones.
    pub operations: Vec<OperationDescription>,
    /// Attributes of the interface, including inherited ones.
    pub attributes: Vec<AttributeDescription>,
    /// Repository ids of the interface's direct bases.
    pub bases: Vec<String>,
    /// TypeCode of the interface.
    pub type_code: TypeCode,
}

/// Description of an operation in the Interface Repository.
#[derive(Clone, Debug, Default)]
pub struct OperationDescription {
    /// Name of the operation, as sent in requests.
    pub name: String,
    /// Repository id of the operation.
    pub id: String,
    /// `true` if the operation is oneway, without a reply.
    pub oneway: bool,
    /// Type of the operation's result; `void` for none.
    pub result: TypeCode,
    /// Parameters of the operation, in order of declaration.
    pub parameters: Vec<ParameterDescription>,
    /// User exceptions that the operation may raise.
    pub exceptions: Vec<ExceptionDescription>,
    /// Name patterns in the operation's `context` clause.
    pub contexts: Vec<String>,
}

/// Description of an operation's parameter.
#[derive(Clone, Debug)]
pub struct ParameterDescription {
    /// Name of the parameter.
    pub name: String,
    /// Type of the parameter.
    pub type_code: TypeCode,
    /// Direction of the parameter.
    pub mode: ParameterMode,
}

/// Direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterMode {
    /// Parameter passed from the client to the object.
    In,
    /// Parameter passed from the object to the client.
    Out,
    /// Parameter passed in both directions.
    InOut,
}

/// Description of a user exception.
#[derive(Clone, Debug)]
pub struct ExceptionDescription {
    /// Simple name of the user exception.
    pub name: String,
    /// Repository id of the user exception.
    pub id: String,
    /// TypeCode of the user exception.
    pub type_code: TypeCode,
}

/// Description of an attribute.
#[derive(Clone, Debug)]
pub struct AttributeDescription {
    /// Name of the attribute; requests call `_get_NAME` and `_set_NAME`.
    pub name: String,
    /// Repository id of the attribute.
    pub id: String,
    /// TypeCode of the attribute.
    pub type_code: TypeCode,
    /// `true` if the attribute is read-only.
    pub readonly: bool,
    /// User exceptions that reading the attribute may raise.
    pub get_exceptions: Vec<ExceptionDescription>,
    /// User exceptions that writing the attribute may raise.
    pub put_exceptions: Vec<ExceptionDescription>,
}

impl InterfaceDescription {
    /// Returns the operation that requests call by this name; those of attributes are derived from
    /// the attributes.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<OperationDescription> {
        if let Some(attribute) = name.strip_prefix("_get_") {
            return self.attribute(attribute).map(AttributeDescription::getter);
        }
        if let Some(attribute) = name.strip_prefix("_set_") {
            return self.attribute(attribute)?.setter();
        }
        let mut operations = self.operations.iter();
        operations.find(|one| one.name == name).cloned()
    }

    /// Returns the description of the attribute with this name, if there is one.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&AttributeDescription> {
        self.attributes.iter().find(|one| one.name == name)
    }
}

impl AttributeDescription {
    /// Returns a description of the operation that reads the attribute.
    #[must_use]
    pub fn getter(&self) -> OperationDescription {
        OperationDescription {
            name: format!("_get_{}", self.name),
            id: self.id.clone(),
            result: self.type_code.clone(),
            exceptions: self.get_exceptions.clone(),
            ..OperationDescription::default()
        }
    }

    /// Returns the operation that writes the attribute, unless it is read-only.
    #[must_use]
    pub fn setter(&self) -> Option<OperationDescription> {
        (!self.readonly).then(|| OperationDescription {
            name: format!("_set_{}", self.name),
            id: self.id.clone(),
            result: TypeCode::VOID,
            parameters: vec![ParameterDescription {
                name: "value".to_owned(),
                type_code: self.type_code.clone(),
                mode: ParameterMode::In,
            }],
            exceptions: self.put_exceptions.clone(),
            ..OperationDescription::default()
        })
    }
}
