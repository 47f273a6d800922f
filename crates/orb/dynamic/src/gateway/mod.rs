//! Gateway: an object that passes on all its calls to another object, whose interface it need not
//! know.

use crate::request::{InvokeError, Request};
use crate::servant::{DynamicImplementation, ServerRequest};
use parking_lot::Mutex;
use punctual_any::{Any, InterfaceDescription, OperationDescription, ParameterMode};
use punctual_orb::relay::{Terms, on_terms, reference_to};
use punctual_orb::{DispatchError, Dispatched, ObjectRef};
use std::borrow::Cow;
use std::collections::HashMap;

/// Gateway that passes calls on to another object, made of the dynamic skeleton and the dynamic
/// invocation interface.
///
/// Calls of *described* operations are unmarshaled into their arguments and marshaled again: the
/// two sides may differ in GIOP version, code sets and byte order. For other operations, the body
/// is passed on unchanged, in the caller's GIOP version and code sets; a call that the target
/// cannot receive in them is refused. Either way the contents of an Any are copied undecoded, and
/// references stay unchanged: a receiver of a reference calls its object directly.
#[derive(Debug)]
pub struct Gateway {
    target: ObjectRef,
    operations: HashMap<String, Described>,
    /// References to the target, by the GIOP version and the code sets in which they call it.
    on_terms: Mutex<HashMap<Terms, ObjectRef>>,
}

/// Described operation, whose calls are unmarshaled and marshaled again.
#[derive(Debug)]
struct Described {
    operation: OperationDescription,
}

/// Upper bound of the cached references, one for each combination of GIOP version and code sets:
/// clients have only a few.
const MOST_TERMS: usize = 64;

impl Gateway {
    /// Makes a gateway to an object of an unknown interface.
    #[must_use]
    pub fn new(target: &ObjectRef) -> Self {
        Self {
            target: target.clone(),
            operations: HashMap::new(),
            on_terms: Mutex::default(),
        }
    }

    /// Makes a gateway to an object of a described interface.
    #[must_use]
    pub fn with_interface(target: &ObjectRef, interface: &InterfaceDescription) -> Self {
        let mut this = Self::new(target);
        for operation in &interface.operations {
            this.describe(operation.clone());
        }
        for attribute in &interface.attributes {
            this.describe(attribute.getter());
            if let Some(setter) = attribute.setter() {
                this.describe(setter);
            }
        }
        this
    }

    fn describe(&mut self, operation: OperationDescription) {
        let described = Described { operation };
        self.operations
            .insert(described.operation.name.clone(), described);
    }

    /// Passes a request on to the target object without decoding the request's body.
    fn pass(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let call = request.as_call();
        call.tell_arguments(None)?;
        let passed = call.passed_on()?;
        match self.on_terms(passed.terms()).relay(&passed)? {
            Some(reply) => call.pass_back(&reply, reply.body()?),
            None => call.reply(|_| Ok(())),
        }
    }

    fn on_terms(&self, terms: Terms) -> ObjectRef {
        let mut remembered = self.on_terms.lock();
        if let Some(object) = remembered.get(&terms) {
            return object.clone();
        }
        let orb = self.target.orb();
        let object = reference_to(orb, on_terms(orb, self.target.ior(), None, terms));
        if remembered.len() < MOST_TERMS {
            remembered.insert(terms, object.clone());
        }
        object
    }
}

impl Described {
    /// Calls the target with the unmarshaled arguments of a request, and answers the request with
    /// the results.
    fn call(
        &self,
        target: &ObjectRef,
        mut server: ServerRequest<'_, '_>,
    ) -> Result<Dispatched, DispatchError> {
        let mut request = Request::of(target, &self.operation);
        let mut values = server.arguments_of(&self.operation)?.into_iter();
        let places = self.operation.parameters.iter().enumerate();
        for (place, _) in places.filter(|(_, one)| one.mode != ParameterMode::Out) {
            if let Some(value) = values.next() {
                request.set_argument(place, value)?;
            }
        }
        if !self.operation.contexts.is_empty() {
            let patterns: Vec<&str> = self.operation.contexts.iter().map(String::as_str).collect();
            request.set_context(&patterns, server.context()?);
        }
        if self.operation.oneway || !server.expects_reply() {
            request.send_oneway()?;
            return server.reply(&[]);
        }
        match request.invoke() {
            Ok(()) => server.reply(&results(&request)),
            Err(InvokeError::User(exception)) => server.raise(&exception),
            Err(InvokeError::System(exception)) => Err(exception.into()),
        }
    }
}

/// Returns the results in the order of a reply's body: the return value, then the `inout` and `out`
/// arguments.
fn results(request: &Request) -> Vec<Any> {
    let arguments = request.arguments().iter();
    let returned = arguments.filter(|argument| argument.mode() != ParameterMode::In);
    std::iter::once(request.return_value())
        .chain(returned.filter_map(|argument| argument.value()))
        .cloned()
        .collect()
}

impl DynamicImplementation for Gateway {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.target.type_id())
    }

    /// Returns `true`: the target also answers the operations of every object, such as `_is_a`.
    fn is_transparent(&self) -> bool {
        true
    }

    fn invoke(&self, request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        match self.operations.get(request.operation()) {
            Some(described) => described.call(&self.target, request),
            None => self.pass(request),
        }
    }
}
