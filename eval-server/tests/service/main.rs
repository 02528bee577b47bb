//! The service as clients use it: over sockets, byte by byte.

mod access;
mod captures;
mod doors;
mod doors_table;
mod faults;
mod hostile;
mod limits;
#[cfg(unix)]
mod metrics;
mod packed;
mod pages;
mod receiver;
mod routes;
mod sessions;
mod support;
mod times;
