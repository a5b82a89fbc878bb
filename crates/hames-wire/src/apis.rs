//! One module per wire, each with its client side and its server side.
//!
//! No wire knows another: what two need stands beside them.

pub mod openai_chat;
