//! What the operating system gives: socket options, processors
