//! Everything that needs real servers or the real binary: one Redis and one Postgres for the whole run, a database and
//! a key prefix for each test.

mod alerts;
mod alerts_face;
mod api;
mod calibrate;
mod catalog;
mod connection;
mod delivery;
mod demo;
mod direct;
mod doubt;
mod embedded;
mod etag;
mod failure;
mod formats;
mod gauges;
mod harness;
mod http;
mod ntfy;
mod outcomes;
mod page;
mod peaks;
mod periods;
mod secrets;
mod seen;
mod serve;
mod servers;
mod service_alerts;
mod sign_in;
mod source;
mod store;
mod support;
mod time;
mod unlimited;
mod worked;
mod zones;
