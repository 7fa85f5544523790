//! Everything that needs real servers or the real binary: one Redis and one Postgres for the whole run, a database and
//! a key prefix for each test.

mod api;
mod calibrate;
mod catalog;
mod connection;
mod demo;
mod doubt;
mod embedded;
mod etag;
mod failure;
mod formats;
mod harness;
mod http;
mod peaks;
mod secrets;
mod serve;
mod servers;
mod source;
mod store;
mod support;
mod time;
mod zones;
