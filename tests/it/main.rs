//! Everything that needs real servers or the real binary: one Redis and one Postgres for the whole run, a database and
//! a key prefix for each test.

mod catalog;
mod connection;
mod harness;
mod peaks;
mod servers;
mod source;
mod support;
