//! Peers, and the matrix of what was tried against them
