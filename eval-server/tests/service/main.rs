//! The service as clients use it: over sockets, byte by byte.

mod access;
mod captures;
mod hostile;
mod limits;
mod receiver;
mod routes;
mod sessions;
mod support;
