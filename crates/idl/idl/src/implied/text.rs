//! Text form of implied IDL, for compilers that do not imply it themselves.

use std::fmt::Write as _;

use super::handlers::{Half, Handlers};
use crate::model::{
    DeclId, DeclKind, Declaration, Direction, Operation, Parameter, Specification, Type,
};
use crate::names::colliding_keyword;

/// Returns the reply handlers and pollers of the interfaces that the main file declares, as an IDL
/// file that includes it.
///
/// The file includes `Messaging.idl`, too, unless the main file has the module Messaging already.
/// Pollers are abstract value types, as each ORB implements its own; they are enclosed in `#ifndef
/// AMI_NO_POLLERS`, as some compilers do not know them.
pub fn text(specification: &Specification, handlers: &Handlers) -> String {
    let mut writer = Writer {
        specification,
        text: String::new(),
    };
    writer.head(handlers.messaging_is_declared);
    let is_own = |id: DeclId| specification[id].in_main_file;
    for (interface, handler) in handlers.all().filter(|(_, handler)| is_own(*handler)) {
        writer.within_modules(interface, |writer, indent| {
            writer.interface(handler, indent);
        });
    }
    writer.text.push_str("#ifndef AMI_NO_POLLERS\n");
    for (interface, handler) in handlers.all().filter(|(_, handler)| is_own(*handler)) {
        writer.within_modules(interface, |writer, indent| {
            writer.poller(interface, handler, handlers, indent);
        });
    }
    writer.text.push_str("#endif\n");
    writer.text
}

struct Writer<'s> {
    specification: &'s Specification,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", indent * 2);
    }

    fn head(&mut self, messaging_is_declared: bool) {
        let file = self.specification.files.first();
        let file = file.map_or_else(String::new, |file| file.name().to_owned());
        let name = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
        self.line(
            0,
            &format!("// Implied IDL of {name} for asynchronous calls."),
        );
        if !messaging_is_declared {
            self.line(0, "#include <Messaging.idl>");
        }
        self.line(0, &format!("#include \"{name}\""));
    }

    fn within_modules(&mut self, id: DeclId, write: impl FnOnce(&mut Self, usize)) {
        let modules = self.specification[id].scoped_name.split_last();
        let modules = modules.map_or(&[][..], |(_, modules)| modules);
        self.text.push('\n');
        for (indent, module) in modules.iter().enumerate() {
            self.line(indent, &format!("module {} {{", escaped(module)));
        }
        write(self, modules.len());
        for indent in (0..modules.len()).rev() {
            self.line(indent, "};");
        }
    }

    fn interface(&mut self, id: DeclId, indent: usize) {
        let declaration = &self.specification[id];
        for doc in &declaration.doc {
            self.line(indent, &format!("/// {doc}"));
        }
        let bases = self.bases(declaration);
        self.line(
            indent,
            &format!("interface {} : {bases} {{", declaration.name),
        );
        for &child in self.specification.children(id) {
            let operation = &self.specification[child];
            if let DeclKind::Operation(of) = &operation.kind {
                let parameters = self.parameters(&of.parameters);
                let name = escaped(&operation.name);
                self.line(indent + 1, &format!("void {name}({parameters});"));
            }
        }
        self.line(indent, "};");
        self.repository_id(declaration, indent);
    }

    /// Writes a repository id that the compiler would not derive by itself.
    fn repository_id(&mut self, declaration: &Declaration, indent: usize) {
        let usual = format!("IDL:{}:1.0", declaration.scoped_name.join("/"));
        if declaration.repository_id != usual {
            let (name, id) = (&declaration.name, &declaration.repository_id);
            self.line(indent, &format!("typeid {name} \"{id}\";"));
        }
    }

    fn bases(&self, declaration: &Declaration) -> String {
        let bases = self.specification.bases(declaration.id).iter();
        let names: Vec<String> = bases.map(|&base| self.name(base)).collect();
        names.join(", ")
    }

    fn poller(&mut self, interface: DeclId, handler: DeclId, handlers: &Handlers, indent: usize) {
        let specification = self.specification;
        let handler = &specification[handler];
        let poller = |handler: &Declaration| match handler.name.strip_suffix("Handler") {
            Some(before) => format!("{before}Poller"),
            None => format!("{}Poller", handler.name),
        };
        let bases = specification.bases(handler.id).iter().map(|&base| {
            let base = &specification[base];
            match base.scoped_name.first() {
                Some(module) if module == "Messaging" => "::Messaging::Poller".to_owned(),
                _ => {
                    let scope = base.scoped_name.iter().take(base.scoped_name.len() - 1);
                    let scope: String = scope.map(|name| format!("::{}", escaped(name))).collect();
                    format!("{scope}::{}", poller(base))
                }
            }
        });
        let bases = bases.collect::<Vec<_>>().join(", ");
        let name = poller(handler);
        self.line(indent, &format!("abstract valuetype {name} : {bases} {{"));
        for &child in specification.children(interface) {
            for half in [Half::Main, Half::Setter] {
                if let Some(reply) = handlers.reply(child, half) {
                    self.polled(child, half, reply.results, indent + 1);
                }
            }
        }
        self.line(indent, "};");
    }

    /// Writes the poller's operation that returns the results (§17.10).
    fn polled(&mut self, called: DeclId, half: Half, results: DeclId, indent: usize) {
        let specification = self.specification;
        let (called, results) = (&specification[called], &specification[results]);
        let DeclKind::Operation(Operation { parameters, .. }) = &results.kind else {
            return;
        };
        let mut all = vec!["in unsigned long ami_timeout".to_owned()];
        all.extend(parameters.iter().map(|parameter| {
            format!(
                "out {} {}",
                self.ty(&parameter.ty),
                escaped(&parameter.name)
            )
        }));
        let raised = match (&called.kind, half) {
            (DeclKind::Operation(operation), _) => &operation.raises,
            (DeclKind::Attribute(attribute), Half::Main) => &attribute.get_raises,
            (DeclKind::Attribute(attribute), Half::Setter) => &attribute.set_raises,
            _ => return,
        };
        let mut raises: Vec<String> = raised.iter().map(|&id| self.name(id)).collect();
        raises.push("::CORBA::WrongTransaction".to_owned());
        let (name, parameters) = (escaped(&results.name), all.join(", "));
        let raises = raises.join(", ");
        self.line(
            indent,
            &format!("void {name}({parameters}) raises ({raises});"),
        );
    }

    fn parameters(&self, parameters: &[Parameter]) -> String {
        let parameters = parameters.iter().map(|parameter| {
            let direction = match parameter.direction {
                Direction::In => "in",
                Direction::Out => "out",
                Direction::InOut => "inout",
            };
            format!(
                "{direction} {} {}",
                self.ty(&parameter.ty),
                escaped(&parameter.name)
            )
        });
        parameters.collect::<Vec<_>>().join(", ")
    }

    fn name(&self, id: DeclId) -> String {
        let names = self.specification[id].scoped_name.iter();
        names.map(|name| format!("::{}", escaped(name))).collect()
    }

    fn ty(&self, ty: &Type) -> String {
        let bounded = |name: &str, bound: &Option<u32>| match bound {
            Some(bound) => format!("{name}<{bound}>"),
            None => name.to_owned(),
        };
        let behind =
            |bound: &Option<u32>| bound.map(|bound| format!(", {bound}")).unwrap_or_default();
        match ty {
            Type::Void => "void".to_owned(),
            Type::Primitive(primitive) => primitive.idl_name().to_owned(),
            Type::String { bound } => bounded("string", bound),
            Type::WString { bound } => bounded("wstring", bound),
            Type::Sequence { element, bound } => {
                format!("sequence<{}{}>", self.ty(element), behind(bound))
            }
            // A parameter of such a type needs a named type.
            Type::Array { element, .. } => self.ty(element),
            Type::Map { key, value, bound } => {
                format!("map<{}, {}{}>", self.ty(key), self.ty(value), behind(bound))
            }
            Type::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
            Type::Any => "any".to_owned(),
            Type::TypeCode => "::CORBA::TypeCode".to_owned(),
            Type::Object => "Object".to_owned(),
            Type::ValueBase => "ValueBase".to_owned(),
            Type::Named(id) => self.name(*id),
        }
    }
}

/// Returns a name, with an escaping underscore if it collides with an IDL keyword.
fn escaped(name: &str) -> String {
    match colliding_keyword(name) {
        Some(_) => format!("_{name}"),
        None => name.to_owned(),
    }
}
