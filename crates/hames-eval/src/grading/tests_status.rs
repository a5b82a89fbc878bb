//! The listed tests against what a log says of them: which are as they should be, and which are not.

use super::{Resolution, Version};
use crate::{
    instance::Answers,
    log_parsers::{Status, StatusMap},
    test_lists::TestLists,
};

pub(super) struct Lists {
    pub fail_to_pass: TestLists,
    pub pass_to_pass: TestLists,
}

enum Judged {
    Pass,
    Fail,
    LeftOut,
}

pub(super) fn lists(
    answers: &Answers,
    statuses: &StatusMap,
    version: Version,
    fail_only: bool,
) -> Lists {
    let sorted = |tests: &[String], judge: &dyn Fn(&str) -> Judged| {
        let mut lists = TestLists::default();
        for test in tests {
            let list = match judge(test) {
                Judged::Pass => &mut lists.pass,
                Judged::Fail => &mut lists.fail,
                Judged::LeftOut => &mut lists.left_out,
            };
            list.push(test.clone());
        }
        lists
    };
    let look = Look { statuses, version };
    if fail_only {
        let judge = |test: &str| look.fail_only(test);
        return Lists {
            fail_to_pass: sorted(&answers.fail_to_pass, &judge),
            pass_to_pass: sorted(&answers.pass_to_pass, &judge),
        };
    }
    Lists {
        fail_to_pass: sorted(&answers.fail_to_pass, &|test| look.fixed(test)),
        pass_to_pass: sorted(&answers.pass_to_pass, &|test| look.maintained(test)),
    }
}

impl Lists {
    /// A list without tests is whole. What was left out of both lists counts in neither.
    pub fn resolution(&self) -> Resolution {
        let is_whole = |lists: &TestLists| lists.fail.is_empty();
        let is_begun = |lists: &TestLists| !lists.pass.is_empty();
        match (is_whole(&self.fail_to_pass), is_whole(&self.pass_to_pass)) {
            (true, true) => Resolution::Full,
            (false, true) if is_begun(&self.fail_to_pass) => Resolution::Partial,
            (_, _) => Resolution::No,
        }
    }
}

struct Look<'a> {
    statuses: &'a StatusMap,
    version: Version,
}

impl Look<'_> {
    fn status(&self, test: &str) -> Option<&Status> {
        let exact = self.statuses.get(test);
        match self.version {
            Version::V4 => exact,
            Version::V5 => exact.or_else(|| self.cut_short(test)),
        }
    }

    /// Some expected names end inside a parameter: one stands for all that begin with it, as long
    /// as those agree.
    fn cut_short(&self, test: &str) -> Option<&Status> {
        if test.matches('[').count() <= test.matches(']').count() {
            return None;
        }
        let mut candidates = self
            .statuses
            .iter()
            .filter(|(name, _)| name.starts_with(test))
            .map(|(_, status)| status);
        let first = candidates.next()?;
        let agree = candidates.all(|other| passes(other) == passes(first));
        agree.then_some(first)
    }

    fn fixed(&self, test: &str) -> Judged {
        match (self.status(test), self.version) {
            (Some(status), _) if passes(status) => Judged::Pass,
            (None | Some(Status::Failed | Status::Error), _)
            | (Some(Status::Skipped), Version::V5) => Judged::Fail,
            (Some(_), _) => Judged::LeftOut,
        }
    }

    /// A skipped test is no regression: version 5 counts it as maintained, version 4 not at all.
    fn maintained(&self, test: &str) -> Judged {
        match (self.status(test), self.version) {
            (Some(Status::Skipped), Version::V5) => Judged::Pass,
            (_, _) => self.fixed(test),
        }
    }

    fn fail_only(&self, test: &str) -> Judged {
        match self.statuses.get(test) {
            Some(Status::Failed) => Judged::Fail,
            _ => Judged::Pass,
        }
    }
}

fn passes(status: &Status) -> bool {
    matches!(status, Status::Passed | Status::Xfail)
}
