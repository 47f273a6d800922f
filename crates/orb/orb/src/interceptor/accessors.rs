//! Operations on a request that client and server interceptors have in common (`RequestInfo`; CORBA
//! 3.3 part 1, §16.3.11).

/// Defines the operations of `RequestInfo` for the client's or the server's request information.
/// `known` is text for the documentation: for which requests the types are known. `valid` gives the
/// points at which an operation may be called, by table 16.1 or 16.2.
///
/// The type has the fields `point`, `facts`, `outcome`, `body`, `slots`, `slot_count` and
/// `reply_contexts`, and its methods `has_results` and `is_forwarded` describe the current point.
macro_rules! request_info {
    (
        $info:ident,
        known: $known:literal,
        valid: { details: $details:expr, operation_context: $operation_context:expr, arguments: $arguments:expr }
    ) => {
        impl $info<'_> {
            /// Returns a number that is unique among this side's requests in progress. It is not
            /// the request id on the wire: it stays the same when a call is sent more than once, or
            /// polled.
            #[must_use]
            pub fn request_id(&self) -> u32 {
                self.facts.request_id
            }

            /// Returns the operation's name on the wire.
            #[must_use]
            pub fn operation(&self) -> &str {
                self.facts.operation
            }

            /// Returns whether a reply is expected; `false` for a one-way whose caller does not
            /// wait.
            #[must_use]
            pub fn response_expected(&self) -> bool {
                self.facts.response_expected
            }

            /// Returns the arguments: those of the reply once it has arrived, before that those of
            /// the request.
            #[doc = $known]
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the arguments are not known.
            pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
                self.point.check($arguments, "arguments")?;
                match self.has_results() {
                    true => {
                        let results = self.facts.results(self.body, "arguments");
                        results.map(|(_, arguments)| arguments)
                    }
                    false => self.facts.arguments(),
                }
            }

            /// Returns the user exceptions that the operation may raise.
            #[doc = $known]
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the exceptions are not known.
            pub fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
                self.point.check($details, "exceptions")?;
                self.facts.exceptions()
            }

            /// Returns the names of the operation's `context` clause.
            #[doc = $known]
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the names are not known.
            pub fn contexts(&self) -> Result<Vec<String>, SystemException> {
                self.point.check($details, "contexts")?;
                self.facts.contexts()
            }

            /// Returns the values that are sent with the request for the `context` clause.
            #[doc = $known]
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the values are not known.
            pub fn operation_context(&self) -> Result<Context, SystemException> {
                self.point.check($operation_context, "operation_context")?;
                self.facts.operation_context()
            }

            /// Returns the operation's result.
            #[doc = $known]
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the result is not known.
            pub fn result(&self) -> Result<Any, SystemException> {
                self.point.check(ValidAt(0b00100), "result")?;
                let results = self.facts.results(self.body, "result");
                results.map(|(result, _)| result)
            }

            /// Returns the status of the request: how it has ended.
            ///
            /// # Errors
            /// BAD_INV_ORDER 14.
            pub fn reply_status(&self) -> Result<ReplyStatus, SystemException> {
                self.point.check(ValidAt::ENDS, "reply_status")?;
                let status = self.outcome.map(Outcome::status);
                Ok(status.unwrap_or(ReplyStatus::Unknown))
            }

            /// Returns the reference to which the call is forwarded, as an IOR.
            pub(crate) fn forwarded_to(&self) -> Result<&Ior, SystemException> {
                match self.outcome {
                    Some(Outcome::Forward(to)) if self.is_forwarded() => Ok(to),
                    // Valid for LOCATION_FORWARD alone (tables 16.1 and 16.2, their notes on it).
                    _ => Err(not_valid_here("forward_reference")),
                }
            }

            /// Returns the value of a slot: at a client, as the calling thread had it when it made the call; at a
            /// server, that of the request.
            ///
            /// # Errors
            /// [`InvalidSlot`].
            pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
                self.slots.get(slot, self.slot_count)
            }

            /// Returns the data of a service context of the reply.
            ///
            /// # Errors
            /// BAD_INV_ORDER 14; BAD_PARAM 26 if the reply has no context with this id.
            pub fn get_reply_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
                self.point
                    .check(ValidAt::ENDS, "get_reply_service_context")?;
                find(self.reply_contexts, id)
            }

            /// Returns the repository id of the exception with which the request ends; empty if it ends without an
            /// exception.
            fn exception_id(&self) -> &str {
                match self.outcome {
                    Some(Outcome::System(exception)) => exception.kind().repository_id(),
                    Some(Outcome::User(id)) => id,
                    _ => "",
                }
            }

            /// Returns the system exception with which the request ends, if it ends with one.
            fn system_exception(&self) -> Option<&SystemException> {
                match self.outcome {
                    Some(Outcome::System(exception)) => Some(exception),
                    _ => None,
                }
            }
        }

        impl fmt::Debug for $info<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($info))
                    .field("point", &self.point.name())
                    .field("request_id", &self.facts.request_id)
                    .field("operation", &self.facts.operation)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(super) use request_info;
