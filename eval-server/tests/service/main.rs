//! The service as clients use it: over sockets, byte by byte.

mod access;
mod captures;
mod doors;
mod doors_table;
mod faults;
mod hostile;
mod limits;
mod packed;
mod pages;
mod receiver;
mod routes;
mod sessions;
mod support;
mod times;
