//! A proof: the test that shows a row of a table to be true.
//!
//! Whether it is there is asked of `claims.rs`.

/// A test that shows a row to be true.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof {
    /// Below the top of the checkout.
    pub file: &'static str,
    pub test: &'static str,
}

impl Proof {
    pub fn show(&self) -> String {
        format!("{} in {}", self.test, self.file)
    }
}
