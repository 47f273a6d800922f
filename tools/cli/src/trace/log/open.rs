//! A message whose lines are being read.

use punctual_cdr::CodeSets;
use punctual_giop::{MessageHeader, ReplyStatus};

use super::lines::{Header, ROW, code_sets, is_of_fragment, octets_of, reply, request, row, start};
use super::message::{Body, Event, Head, MOST_OCTETS, Message, NoBody, Peer};

/// State of a message that is being read.
#[derive(Debug, Default)]
pub(super) struct Open {
    sent: bool,
    peer: Peer,
    seams: Vec<usize>,
    header: Option<Header>,
    is_foreign: bool,
    head: Option<Head>,
    code_sets: Option<Option<CodeSets>>,
    /// Number of bytes of the body.
    body: Option<usize>,
    /// True if a line about the reply's exception has not been read yet.
    awaits_exception: bool,
    /// Number of bytes still to come in a service context's dump, which is skipped.
    of_context: usize,
    pub(super) dump: Option<Dump>,
    is_hidden: bool,
}

#[derive(Debug)]
pub(super) struct Dump {
    pub(super) is_whole: bool,
    /// Number of bytes of the complete dump.
    length: usize,
    octets: Vec<u8>,
    is_damaged: bool,
}

impl Open {
    /// Returns the message that a line begins.
    pub(super) fn begin(line: &str) -> Option<Self> {
        let start = start(line)?;
        Some(Self {
            sent: start.sent,
            peer: start.peer,
            seams: start.seams,
            ..Self::default()
        })
    }

    pub(super) fn goes_on_with(&self, line: &str) -> bool {
        match self.header {
            Some(_) => line.starts_with("  "),
            None => !self.is_foreign && start(line).is_none(),
        }
    }

    pub(super) fn take(&mut self, line: &str) {
        if self.header.is_none() {
            self.header = Header::read(line);
            self.is_foreign = self.header.is_none();
            if is_of_fragment(line) {
                self.head = Some(Head::Fragment { id: None });
            }
            return;
        }
        let Some(line) = line.strip_prefix("  ") else {
            return;
        };
        if let Some((at, octets)) = row(line) {
            return self.take_row(at, &octets);
        }
        self.of_context = 0;
        if let Some(dump) = &mut self.dump
            && dump.octets.len() < dump.length
        {
            dump.is_damaged = true;
        }
        self.take_text(line);
    }

    fn take_text(&mut self, line: &str) {
        if let Some(octets) = line.strip_prefix("body: ").and_then(octets_of) {
            self.body = Some(octets);
        } else if let Some(text) = line.strip_prefix("context ") {
            self.take_context(text);
        } else if line.ends_with(" octets not shown") {
            self.is_hidden = true;
        } else if line.starts_with("user exception ") || line.starts_with("system exception ") {
            self.awaits_exception = false;
        } else if matches!(self.head, Some(Head::Fragment { .. })) {
            self.take_fragment(line);
        } else if self.head.is_none() {
            self.head = request(line).or_else(|| reply(line));
            self.awaits_exception = matches!(
                self.head,
                Some(Head::Reply {
                    status: ReplyStatus::UserException | ReplyStatus::SystemException,
                    ..
                })
            );
        }
    }

    fn take_fragment(&mut self, line: &str) {
        if let Some(id) = line.strip_prefix("continues request ") {
            self.head = Some(Head::Fragment {
                id: id.parse().ok(),
            });
        } else if let Some(octets) = octets_of(line) {
            self.body = Some(octets);
        }
    }

    fn take_context(&mut self, text: &str) {
        if let Some(sets) = text.strip_prefix("1 (CodeSets): ") {
            self.code_sets = Some(code_sets(sets));
        } else if let Some((_, octets)) = text.rsplit_once(": ") {
            self.of_context = octets_of(octets).unwrap_or(0);
        }
    }

    fn take_row(&mut self, at: usize, octets: &[u8]) {
        if self.of_context > 0 {
            self.of_context = self.of_context.saturating_sub(octets.len());
            return;
        }
        if self.dump.is_none() && at == 0 {
            self.dump = self.begin_dump(octets);
        }
        if let Some(dump) = &mut self.dump {
            dump.take(at, octets);
        }
    }

    /// Returns the dump that begins with this row: of the whole message if the row begins with the
    /// message's header, otherwise of the body.
    fn begin_dump(&self, row: &[u8]) -> Option<Dump> {
        let header = self.header?;
        let is_whole = row
            .first_chunk()
            .and_then(|octets| MessageHeader::parse(octets).ok())
            .is_some_and(|parsed| {
                (parsed.version, parsed.order, parsed.size as usize)
                    == (header.version, header.order, header.size)
            });
        let length = match is_whole {
            true => MessageHeader::LEN.checked_add(header.size)?,
            false => self.body?,
        };
        Some(Dump {
            is_whole,
            length,
            octets: Vec::new(),
            is_damaged: false,
        })
    }

    /// Returns `true` if all lines of the log that belong to the message have been read. With
    /// `dumps_whole`, a message with an empty body is followed by a dump, too, as those before it.
    pub(super) fn is_complete(&self, dumps_whole: bool) -> bool {
        if self.header.is_none() || self.awaits_exception {
            return self.is_foreign;
        }
        match (&self.dump, self.body) {
            (Some(dump), _) => dump.is_damaged || dump.octets.len() >= dump.length,
            (None, Some(0)) => !dumps_whole,
            (None, _) => false,
        }
    }

    pub(super) fn finish(mut self) -> Option<Event> {
        if self.is_foreign {
            return Some(Event::Foreign);
        }
        let header = self.header?;
        let head = self.head.take()?;
        Some(Event::Message(Message {
            sent: self.sent,
            version: header.version,
            order: header.order,
            more_fragments: header.more_fragments,
            head,
            code_sets: self.code_sets,
            body: self.octets(&header),
            peer: self.peer,
        }))
    }

    fn octets(&mut self, header: &Header) -> Result<Body, NoBody> {
        let length = self.body.ok_or(NoBody::Damaged)?;
        let all = MessageHeader::LEN.saturating_add(header.size);
        let at = all.checked_sub(length).ok_or(NoBody::Damaged)?;
        let ascend = self.seams.is_sorted_by(|one, next| one < next);
        if !ascend || self.seams.last().is_some_and(|last| *last > all) {
            return Err(NoBody::Damaged);
        }
        if header.is_short {
            return Err(NoBody::NotWhole);
        }
        if all > MOST_OCTETS {
            return Err(NoBody::TooLong);
        }
        let mut body = Body {
            at,
            octets: Vec::new(),
            seams: std::mem::take(&mut self.seams),
        };
        if length == 0 {
            return Ok(body);
        }
        let dump = match self.dump.take() {
            None => return Err(NoBody::NotShown),
            Some(_) if self.is_hidden => return Err(NoBody::NotShown),
            Some(dump) => dump,
        };
        if dump.is_damaged || dump.octets.len() != dump.length {
            return Err(NoBody::Damaged);
        }
        body.octets = dump.octets;
        if dump.is_whole {
            body.octets.drain(..at);
        }
        Ok(body)
    }
}

impl Dump {
    fn take(&mut self, at: usize, octets: &[u8]) {
        let so_far = self.octets.len();
        let due = self.length.saturating_sub(so_far).min(ROW);
        // A shorter row is the last one shown, or does not fit the next one's position.
        if at != so_far || octets.len() > due || so_far + due > MOST_OCTETS {
            self.is_damaged = true;
        } else {
            self.octets.extend_from_slice(octets);
        }
    }
}
