//! The seven stages, one file each, in the order they run.
//!
//! How they are strung together, kept and skipped is `pipeline.rs`.

pub mod s1_build;
pub mod s2_prepare;
pub mod s3_baseline;
pub mod s4_solve;
pub mod s5_patch;
pub mod s6_score;
pub mod s7_record;
