//! Every key takes effect, invalid values are refused, and the pages are those of the table.

mod arguments;
mod file;
mod pages;
