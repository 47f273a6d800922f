//! Heartbeats of a connection on which a reply is awaited (CORBA 3.0, §23.2.9).

use super::complete;
use super::failure::{Failed, too_many_calls, unheard};
use super::invocation::{Call, Invocation};
use super::send;
use super::write::{Ask, NewMessage};
use crate::groups::Heartbeat;
use crate::lane::{AwaitedReply, Binding, Broken};
use crate::messaging::Message;
use crate::operation::NamedOperation;
use punctual_exec::Deadline;
use punctual_giop::AddressingDisposition;

/// Operation by which a client asks whether a server is alive.
const FT_HB: &str = "_FT_HB";

impl Invocation {
    /// Returns the heartbeats for the reply that is awaited by this binding, if the client wants them and the server
    /// answers them.
    pub(super) fn heartbeat(&self, call: &Call<'_>, binding: &Binding) -> Option<Heartbeat> {
        let heartbeat = self.group.as_ref()?.heartbeat()?;
        let stated = self.route.target(&call.callee).stated();
        stated
            .answers_heartbeats(binding.endpoint.profile)
            .then_some(heartbeat)
    }

    /// Waits for the reply, and meanwhile asks the server for signs of life. If it gives none, closes the connection.
    pub(super) fn wait_with_heartbeats(
        &self,
        call: &Call<'_>,
        binding: &Binding,
        mut reply: AwaitedReply,
        heartbeat: Heartbeat,
    ) -> Result<Message, Failed> {
        let mut asked: Option<AwaitedReply> = None;
        loop {
            let term = match &asked {
                None => heartbeat.interval,
                Some(_) => heartbeat.time_out,
            };
            match complete::wait_until(reply, Deadline::after(term), self.deadline) {
                Ok(came) => return came,
                Err(awaited) => reply = awaited,
            }
            asked = match asked {
                None => Some(self.ask(call, binding, heartbeat)?),
                Some(asked) if asked.has_come() => {
                    // Whatever it is, the server is alive.
                    let _ = complete::take(asked, self.deadline);
                    None
                }
                Some(_) => {
                    let connection = &binding.connection;
                    connection.leave_pool();
                    connection.break_off(&Broken::off("no answer to a heartbeat"));
                    return Err(unheard(connection.peer(), heartbeat));
                }
            };
        }
    }

    /// Sends a heartbeat.
    fn ask(
        &self,
        call: &Call<'_>,
        binding: &Binding,
        heartbeat: Heartbeat,
    ) -> Result<AwaitedReply, Failed> {
        let connection = &binding.connection;
        let new_message = NewMessage {
            callee: call.callee,
            binding,
            route: &self.route,
            contexts: &Vec::new(),
            is_intercepted: false,
            addressing: AddressingDisposition::Key,
            announces_code_sets: false,
            waits: false,
        };
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let ask = Ask::Request {
            operation: &NamedOperation::two_way(FT_HB),
            arguments: &|_| Ok(()),
        };
        let mut request = new_message.message(ask, pending.id())?;
        let until = self.deadline.earlier(Deadline::after(heartbeat.time_out));
        send::send(connection, &mut request, false, until)?;
        Ok(pending.put_away(connection))
    }
}
