//! Complaints about peers whose connections ended in another way than they should.

use punctual_link::{Cause, LinkError};
use std::borrow::Cow;
use std::io::ErrorKind;

/// Returns the complaint about the peer of a connection that ended with this error; `None` for an ordinary end, such as
/// that of a process that was killed between two messages. `mid_message` is true if a message was received only in
/// part.
pub(super) fn complaint(error: &LinkError, mid_message: bool) -> Option<Cow<'static, str>> {
    let complaint = match &error.cause {
        Cause::Closed if mid_message => "the peer closed in the middle of a message",
        // Over TLS: the peer did not say goodbye.
        Cause::Os(os) if mid_message && os.kind() == ErrorKind::UnexpectedEof => {
            "the connection ended in the middle of a message: the peer has crashed, or the network was cut"
        }
        Cause::TimedOut if mid_message => "the peer took too long to send a message; closed",
        Cause::TimedOut => "the peer sent nothing in time; closed",
        Cause::BadPeer(_) => return Some(format!("{error}; closed").into()),
        _ => return None,
    };
    Some(complaint.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_link::Phase;
    use std::io;

    fn received(cause: Cause) -> LinkError {
        let phase = Phase::Receive;
        LinkError { phase, cause }
    }

    /// Returns the error for the end of a TLS stream without a `close_notify`.
    fn cut_off() -> LinkError {
        received(Cause::Os(io::Error::from(ErrorKind::UnexpectedEof)))
    }

    #[test]
    fn an_end_between_messages_is_ordinary_also_without_the_goodbye_of_tls() {
        assert_eq!(complaint(&received(Cause::Closed), false), None);
        assert_eq!(complaint(&cut_off(), false), None);
    }

    #[test]
    fn an_end_in_the_middle_of_a_message_is_complained_about() {
        for end in [received(Cause::Closed), cut_off()] {
            let complaint = complaint(&end, true).unwrap();
            assert!(
                complaint.contains("in the middle of a message"),
                "{complaint}"
            );
        }
    }

    #[test]
    fn a_peer_that_breaks_the_protocol_is_complained_about_wherever_it_is() {
        let broken = received(Cause::BadPeer("two lines"));
        for mid_message in [false, true] {
            let complaint = complaint(&broken, mid_message).unwrap();
            assert!(complaint.contains("two lines; closed"), "{complaint}");
        }
    }
}
