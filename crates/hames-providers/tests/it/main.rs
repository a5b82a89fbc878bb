//! Providers, from outside: one file a topic.

mod scripted;
