//! Repositories: one bare mirror for each source, and checkouts that hold nothing later than their base.
//!
//! What is built in a tree, and who works in it, is not known here.

mod clone;
mod folder;
mod git;
mod mirror;
mod sdist;

pub(crate) use self::folder::slug;
pub use self::{
    clone::{Depth, clone},
    git::{GitCall, commit_all, git, git_call, git_text, git_told},
    mirror::{Mirrored, keep, keep_as_mirror, mirror},
};
