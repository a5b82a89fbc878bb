//! HTTP to model services, and which services there are.
