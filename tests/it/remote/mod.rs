//! Setups on other machines, over a real `sshd` on loopback with a throw-away key, and over other prefixes.

mod agent;
mod at_once;
mod bad_links;
mod bad_luck;
mod bench;
mod cluster;
mod containers;
mod detached;
mod fleet;
mod link;
mod measuring;
mod nodes;
mod program;
mod server;
mod telemetry;
mod walltime;
