//! TCP in checked frames.
