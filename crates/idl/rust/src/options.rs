//! Options of the generator.

use std::collections::BTreeMap;

/// Options of the generation of Rust from a specification.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rust path of the runtime that generated code calls. Default: `::punctual`.
    pub runtime_path: String,
    /// `true` if references get a method for each operation. Default: true. Unnecessary for a
    /// program that only implements interfaces.
    pub client: bool,
    /// `true` if interfaces get a servant trait and a skeleton. Default: true. Unnecessary for a
    /// program that only calls objects.
    pub server: bool,
    /// `true` if types have TypeCodes, and so can be in an `any`. Default: true. Unused ones are
    /// not in the program; without this option, they need not be compiled either.
    pub type_codes: bool,
    /// `true` if references have `sendp_`, `sendc_` and `_async` methods for asynchronous calls,
    /// and interfaces the reply handlers that they imply: `AMI_ClerkHandler` of `Clerk`. Default:
    /// false.
    pub asynchronous: bool,
    /// `true` if interfaces get a trait for servants that answer later: asynchronous method
    /// handling. Default: false.
    pub amh: bool,
    /// `true` if interfaces get a trait for servants whose operations are `async`. It implies the
    /// trait of `amh`. Default: false.
    pub async_servants: bool,
    /// Implementation of the references' calls, unless `@interpreted` overrides it. Default:
    /// compiled.
    pub stubs: Stubs,
    /// Pairs of an IDL scope, or of the name of one type, and the Rust path with the code of an
    /// earlier compilation for it: `("::CosNaming", "punctual_naming")`. *Included* declarations of
    /// such a scope are referred to and not generated again; declarations of the main file itself
    /// always are. Default: none. Where several match, the longest scope wins.
    pub extern_paths: Vec<(String, String)>,
    /// Included files whose Rust another compilation generates, by their names in the
    /// specification, with the module of that code. A module that begins with `super` counts from
    /// the module that the generated file is included in. Default: none.
    /// [`generate_each`](crate::generate_each) finds them.
    pub elsewhere: BTreeMap<String, String>,
    /// Rust path of the module that holds the modules of files compiled together, each with its
    /// file's name. Default: `super`, the module around the one that a generated file is included
    /// in.
    pub modules: String,
    /// `true` if each of several files has types of its own for common includes. Default: false.
    pub separate: bool,
    /// Pairs of an IDL `native` type and the Rust type that stands for it:
    /// `("::PortableServer::Cookie", "std::sync::Arc<u64>")`. Default: none; a native type that
    /// is used and not named here is an error.
    pub natives: Vec<(String, String)>,
    /// `true` if references are `I` instead of `Option<I>`, and nil is refused, where the IDL does
    /// not say `@non_nil(FALSE)`. Default: false.
    pub non_nil: bool,
}

/// Implementation of a reference's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stubs {
    /// Separate code for each method: the fastest.
    #[default]
    Compiled,
    /// Shared code, driven by a description of each method: the smallest. There are no `_into`
    /// twins, and objects of this process are called by requests, too.
    Interpreted,
}

impl Options {
    /// Returns whether servants that answer later are generated: with a response object (`amh`) or
    /// with `async` operations.
    pub(crate) fn answers_later(&self) -> bool {
        self.amh || self.async_servants
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            runtime_path: "::punctual".to_owned(),
            client: true,
            server: true,
            type_codes: true,
            asynchronous: false,
            amh: false,
            async_servants: false,
            stubs: Stubs::default(),
            extern_paths: Vec::new(),
            elsewhere: BTreeMap::new(),
            modules: "super".to_owned(),
            separate: false,
            natives: Vec::new(),
            non_nil: false,
        }
    }
}
