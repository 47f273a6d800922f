//! Client and server of Punctual without stubs or skeletons: requests that are built at run time,
//! and a servant that is not generated from an interface.

use super::{Caller, punctual as stubs, race};
use crate::Result;
use crate::case::{Case, Operation};
use crate::protocol::References;
use punctual::dynamic::{DynamicImplementation, Request, ServerRequest};
use punctual::poa::{DispatchError, Dispatched};
use punctual::{Any, Interface, ObjectRef, SystemException, TypeCode, Typed};
use punctual_example_cubit::idl::bench::{BinStruct, Cube, Cubit};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Returns the types of an operation's argument and result.
fn types_of(operation: &str) -> Option<(Option<TypeCode>, TypeCode)> {
    let of = |element: &TypeCode| TypeCode::sequence(element, 0);
    let (octets, structs) = (of(&TypeCode::OCTET), of(&BinStruct::type_code()));
    Some(match operation {
        "cube_void" | "ping" => (None, TypeCode::VOID),
        "cube_long" => (Some(TypeCode::LONG), TypeCode::LONG),
        "cube_struct" => (Some(Cube::type_code()), Cube::type_code()),
        "take_octets" | "throw_octets" => (Some(octets), TypeCode::VOID),
        "take_longs" => (Some(of(&TypeCode::LONG)), TypeCode::VOID),
        "take_bin_structs" | "throw_bin_structs" => (Some(structs), TypeCode::VOID),
        "echo_octets" => (Some(octets.clone()), octets),
        "echo_bin_structs" => (Some(structs.clone()), structs),
        "_get_pings" => (None, TypeCode::ULONG_LONG),
        _ => return None,
    })
}

/// Client that uses the dynamic invocation interface, with one request object for each operation,
/// which is invoked repeatedly.
pub(super) struct Client {
    /// Client with stubs, from which the references are taken.
    stubs: stubs::Client,
    pings: Request,
    thrown: u64,
}

impl Client {
    pub(super) fn new(stubs: stubs::Client) -> Result<Self> {
        let mut this = Self {
            pings: request(stubs.cubit().as_object(), "_get_pings", None)?,
            stubs,
            thrown: 0,
        };
        this.thrown = this.pings()?;
        Ok(this)
    }

    fn pings(&mut self) -> Result<u64> {
        self.pings.invoke()?;
        Ok(self.pings.return_value().extract()?)
    }
}

fn request(cubit: &ObjectRef, operation: &str, argument: Option<Any>) -> Result<Request> {
    let (_, result) = types_of(operation).ok_or("the operation has no types here")?;
    let mut request = Request::new(cubit, operation);
    if let Some(argument) = argument {
        request.add_in("argument", argument);
    }
    request.set_return_type(&result);
    Ok(request)
}

/// Returns the argument that a benchmark case passes, as an `any`.
fn argument(case: Case) -> Result<Option<Any>> {
    let units = case.units as usize;
    Ok(Some(match case.operation {
        Operation::CubeVoid | Operation::Ping => return Ok(None),
        Operation::CubeLong => Any::new(&21i32)?,
        Operation::CubeStruct => Any::new(&Cube { o: 5, l: 21, s: 7 })?,
        Operation::TakeLongs => Any::new(&vec![123_456_789i32; units])?,
        Operation::TakeBinStructs
        | Operation::EchoBinStructs
        | Operation::EchoBinStructsInto
        | Operation::ThrowBinStructs => Any::new(&vec![super::sample::SAMPLE; units])?,
        _ => Any::new(&vec![0x5au8; units])?,
    }))
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let name = case.operation.wire_name();
        let cubit = self.stubs.cubit().as_object();
        let mut request = request(cubit, name, argument(case)?)?;
        let thrown = &mut self.thrown;
        Ok(match case.operation.is_two_way() {
            true => Box::new(move || {
                request.invoke()?;
                black_box(request.return_value());
                Ok(())
            }),
            false => Box::new(move || {
                *thrown += 1;
                Ok(request.send_oneway()?)
            }),
        })
    }

    fn settle(&mut self) -> Result<()> {
        while self.pings()? < self.thrown {}
        Ok(())
    }

    /// Makes calls by several threads, each with a request object of its own.
    fn flood(&mut self, threads: u32, calls: u32, references: References) -> Result<Duration> {
        let cubits = self.stubs.for_threads(threads, references)?;
        let requests = cubits
            .iter()
            .map(|cubit| request(cubit.as_object(), "cube_void", None));
        let callers: Result<Vec<_>> = requests
            .map(|request| request.map(|mut request| move || Ok(request.invoke()?)))
            .collect();
        race(callers?, calls)
    }
}

/// Servant of the Cubit interface by the dynamic skeleton interface, limited to the operations that
/// the cases call.
#[derive(Debug)]
pub(super) struct Servant {
    /// Argument type of each operation, by operation name.
    arguments: HashMap<&'static str, Option<TypeCode>>,
    pings: AtomicU64,
}

impl Default for Servant {
    fn default() -> Self {
        let operations = Operation::ALL.map(Operation::wire_name);
        let known = operations.into_iter().chain(["_get_pings"]);
        let typed = known.filter_map(|name| Some((name, types_of(name)?.0)));
        Self {
            arguments: typed.collect(),
            pings: AtomicU64::new(0),
        }
    }
}

impl DynamicImplementation for Servant {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(Cubit::REPOSITORY_ID)
    }

    fn invoke(
        &self,
        mut request: ServerRequest<'_, '_>,
    ) -> std::result::Result<Dispatched, DispatchError> {
        let operation = request.operation();
        let Some(argument) = self.arguments.get(operation) else {
            return Err(request.bad_operation());
        };
        let mut values = request.arguments(argument.as_slice())?;
        match operation {
            "ping" | "throw_octets" | "throw_bin_structs" => {
                self.pings.fetch_add(1, Ordering::Relaxed);
                request.reply(&[])
            }
            "_get_pings" => request.reply(&[Any::new(&self.pings.load(Ordering::Relaxed))?]),
            "cube_long" => {
                let l: i32 = taken(&values)?;
                request.reply(&[Any::new(&l.wrapping_pow(3))?])
            }
            "cube_struct" => {
                let Cube { o, l, s } = taken(&values)?;
                let cubed = Cube {
                    o: o.wrapping_pow(3),
                    l: l.wrapping_pow(3),
                    s: s.wrapping_pow(3),
                };
                request.reply(&[Any::new(&cubed)?])
            }
            echo if echo.starts_with("echo") => request.reply(&values),
            _ => {
                values.clear();
                request.reply(&values)
            }
        }
    }
}

/// Extracts an operation's only argument as a Rust type.
fn taken<T: Typed + punctual::stub::Unmarshal>(
    values: &[Any],
) -> std::result::Result<T, SystemException> {
    let value = values.first().and_then(|value| value.extract().ok());
    value.ok_or_else(|| {
        SystemException::new(
            punctual::SystemExceptionKind::Marshal,
            punctual::minor::ENCODING,
            punctual::CompletionStatus::No,
        )
    })
}
