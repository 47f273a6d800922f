//! Help that an error gets for where it is: besides its own, and from the statement being read. It
//! names the macro that mends the text, where `#if` decides by one that is not defined.

use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::source::Place;

/// Help for errors of a part of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Advice {
    Help(&'static str),
    /// The macro that would leave out the text at the begin of a place.
    LeaveOut(Place),
    /// The macro that would put in text inside a place.
    PutIn(Place),
}

/// Text that is read, or left out, because a macro is not defined.
#[derive(Clone, Debug)]
pub(crate) struct WithoutMacro {
    /// Text between two directives, the first of them included.
    pub(crate) place: Place,
    pub(crate) name: Rc<str>,
    /// `true` if it is read. Defining the macro leaves it out; or puts it in, if this is `false`.
    pub(crate) is_read: bool,
}

/// Advice for diagnostics that applies to the text being read.
#[derive(Debug, Default)]
pub(crate) struct CurrentAdvice {
    /// Advice for the statements being read, the innermost one last.
    advice: Vec<Advice>,
    /// Texts in the order of their ends, inner ones first.
    without: Vec<WithoutMacro>,
}

impl CurrentAdvice {
    pub(crate) fn record(&mut self, text: WithoutMacro) {
        self.without.push(text);
    }

    pub(crate) fn begin(&mut self, advice: Advice) {
        self.advice.push(advice);
    }

    pub(crate) fn end(&mut self) {
        self.advice.pop();
    }

    /// Adds the help to an error. What leaves out the faulty text is more to the point than what
    /// puts in some.
    pub(crate) fn add_to(&self, error: &mut Diagnostic) {
        let advice = self.advice.iter().rev();
        let mut can_be_left_out = false;
        for one in advice.clone() {
            let help = match one {
                Advice::Help(help) => Some((*help).to_owned()),
                Advice::LeaveOut(place) => self.way_to_leave_out(*place),
                Advice::PutIn(_) => continue,
            };
            if let Some(help) = help {
                can_be_left_out |= matches!(one, Advice::LeaveOut(_));
                error.add_help(&help);
            }
        }
        let put_in = advice.filter_map(|one| match one {
            Advice::PutIn(place) => self.way_to_put_in(*place),
            _ => None,
        });
        for help in put_in.filter(|_| !can_be_left_out) {
            error.add_help(&help);
        }
    }

    fn way_to_leave_out(&self, place: Place) -> Option<String> {
        let is_around = |at: Place| at.start <= place.start && place.start < at.end;
        let name = self.macro_of(true, place, is_around)?;
        Some(format!(
            "it is read because the macro `{name}` is not defined: `-D {name}`, or \
             `.define(\"{name}\")` in a build script, leaves it out"
        ))
    }

    fn way_to_put_in(&self, place: Place) -> Option<String> {
        let is_inside = |at: Place| place.start <= at.start && at.end <= place.end;
        let name = self.macro_of(false, place, is_inside)?;
        Some(format!(
            "text is left out here because the macro `{name}` is not defined: `-D {name}`, or \
             `.define(\"{name}\")` in a build script, puts it in"
        ))
    }

    fn macro_of(
        &self,
        is_read: bool,
        place: Place,
        is_about: impl Fn(Place) -> bool,
    ) -> Option<&str> {
        let innermost = self.without.iter().find(|text| {
            text.is_read == is_read && text.place.file == place.file && is_about(text.place)
        })?;
        Some(&innermost.name)
    }
}
