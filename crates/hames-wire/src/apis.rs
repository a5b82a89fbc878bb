//! One module per wire, each with its client side and its server side.
//!
//! No wire knows another: what two need stands beside them.

pub mod anthropic_messages;
pub mod ollama_chat;
pub mod openai_chat;
