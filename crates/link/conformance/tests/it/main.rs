//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod diop;
mod iiop;
mod inproc;
mod reliable;
mod shmiop;
mod uiop;
