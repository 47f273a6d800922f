//! Header between a value's tag and its state: the codebase, and the ids of its type.

use std::sync::Arc;

use super::read_values::KnownId;
use super::tag::{INDIRECTION, TypeInformation, ValueTag};
use crate::decoder::Decoder;
use crate::error::CdrError;

/// Upper bound of the ids that a value may list.
const MOST_IDS: usize = 64;

/// Type information read from the header of a value.
pub(super) struct Header {
    /// Id of the value's type, then the ids of types it may be truncated to, as indices into the
    /// list of ids read. `None` where the header has no type information.
    pub(super) types: Option<Arc<[usize]>>,
}

impl<'d> Decoder<'d> {
    /// Reads the parts of the header that the tag announces.
    pub(super) fn get_value_header(&mut self, tag: ValueTag) -> Result<Header, CdrError> {
        if tag.has_codebase {
            self.get_codebase()?;
        }
        let types = match tag.types {
            TypeInformation::None => None,
            TypeInformation::One => Some(Arc::from([self.get_id()?])),
            TypeInformation::List => Some(self.get_ids()?),
        };
        Ok(Header { types })
    }

    /// Reads the location of the sender's code, which is ignored.
    fn get_codebase(&mut self) -> Result<(), CdrError> {
        if self.get_marked()? {
            let to = self.get_indirection()?;
            let found = self.values().codebases.binary_search(&to);
            return found
                .map(drop)
                .map_err(|_| CdrError::Invalid("an indirection does not lead to a codebase"));
        }
        let at = self.place();
        self.get_string()?;
        self.values().codebases.push(at);
        Ok(())
    }

    /// Reads an id and returns its index among those read.
    fn get_id(&mut self) -> Result<usize, CdrError> {
        if self.get_marked()? {
            let to = self.get_indirection()?;
            let ids = &self.values().ids;
            return ids
                .binary_search_by_key(&to, |known| known.at)
                .map_err(|_| CdrError::Invalid("an indirection does not lead to a repository id"));
        }
        let at = self.place();
        let id = self.get_string()?;
        let ids = &mut self.values().ids;
        ids.push(KnownId {
            at,
            id,
            registered: None,
        });
        Ok(ids.len() - 1)
    }

    fn get_ids(&mut self) -> Result<Arc<[usize]>, CdrError> {
        if self.get_marked()? {
            let to = self.get_indirection()?;
            let lists = &self.values().lists;
            let found = lists.binary_search_by_key(&to, |(at, _)| *at).ok();
            let (_, list) = found
                .and_then(|index| lists.get(index))
                .ok_or(CdrError::Invalid(
                    "an indirection does not lead to a list of ids",
                ))?;
            return Ok(Arc::clone(list));
        }
        let at = self.place();
        let count = self.get_length(4)?;
        if count > MOST_IDS {
            return Err(CdrError::over_limit(count, MOST_IDS));
        }
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.get_id()?);
        }
        let ids: Arc<[usize]> = ids.into();
        self.values().lists.push((at, Arc::clone(&ids)));
        Ok(ids)
    }

    /// Returns whether an indirection comes next; if so, skips its marker.
    fn get_marked(&mut self) -> Result<bool, CdrError> {
        self.align(4)?;
        let is_marked = self.peek_u32() == Some(INDIRECTION);
        if is_marked {
            self.skip(4)?;
        }
        Ok(is_marked)
    }
}
