//! What is asked of the generator.

use std::collections::BTreeMap;

/// How Rust is generated from a specification.
#[derive(Clone, Debug)]
pub struct Options {
    /// The Rust path of the runtime that generated code calls. Default: `::punctual`.
    pub runtime_path: String,
    /// Whether references get a method for each operation. Default: true. A program that only
    /// implements interfaces may do without.
    pub client: bool,
    /// Whether interfaces get a servant trait and a skeleton. Default: true. A program that only
    /// calls objects may do without.
    pub server: bool,
    /// Whether types have TypeCodes, and so can be in an `any`. Default: true. What nobody asks
    /// for is not in the program; without, it need not be compiled either.
    pub type_codes: bool,
    /// Whether references have `sendp_`, `sendc_` and `_async` methods, of calls whose callers go on, and interfaces have the reply
    /// handlers that they imply: `AMI_ClerkHandler` of `Clerk`. Default: false.
    pub asynchronous: bool,
    /// Whether interfaces get a trait for servants that answer later: asynchronous method handling. Default: false.
    pub amh: bool,
    /// Whether they get a trait for servants whose operations are `async`. It has them get the one for `amh`, too. Default: false.
    pub async_servants: bool,
    /// How references make their calls, but where `@interpreted` says it. Default: compiled.
    pub stubs: Stubs,
    /// Pairs of an IDL scope, or of the name of one type, and the Rust path that holds what an earlier compilation generated
    /// for it: `("::CosNaming", "punctual_naming")`. What is *included* from such a scope is
    /// referred to and not generated again; what the main file itself declares always is.
    /// Default: none. Where several match, the longest scope wins.
    pub extern_paths: Vec<(String, String)>,
    /// Included files whose Rust another compilation generates, by their names in the specification, and the module that has it.
    /// One that begins with `super` counts from the module that the generated file is included in. Default: none.
    /// [`generate_each`](crate::generate_each) finds them.
    pub elsewhere: BTreeMap<String, String>,
    /// The Rust path of the module that holds the modules of files that are compiled side by side, each with its file's name.
    /// Default: `super`, the module around the one that a generated file is included in.
    pub modules: String,
    /// Whether each of several files has types of its own of what they include. Default: false.
    pub separate: bool,
    /// Pairs of an IDL `native` type and the Rust type that stands for it:
    /// `("::PortableServer::Cookie", "std::sync::Arc<u64>")`. Default: none; a native type that
    /// is used and not named here is an error.
    pub natives: Vec<(String, String)>,
    /// Whether references are `I` instead of `Option<I>`, and nil is refused, where the IDL does not say
    /// `@non_nil(FALSE)`. Default: false.
    pub non_nil: bool,
}

/// How the methods of a reference make their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stubs {
    /// Each has its own way from arguments to results: the fastest.
    #[default]
    Compiled,
    /// Each says what travels, and all of them share one way: the smallest. There are no `_into`
    /// twins, and objects of this process are called by requests, too.
    Interpreted,
}

impl Options {
    /// Whether there are servants that answer later.
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
