//! The wires, from outside: one file a topic.

mod scenario;
