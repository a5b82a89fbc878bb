//! What a test run's output says of each test: one parser a framework, found by the official names.
//!
//! It judges nothing: what a status is worth is `grading/`'s. Where the two official versions read
//! a line differently, both readings are here.

mod django;
mod gradle;
mod lines;
mod maven;
mod phpunit;
mod pytest;
mod redis;
mod seaborn;
mod status;
mod sympy;

use crate::grading::Version;

pub use status::{Status, StatusMap};

/// How one framework's output is read.
#[derive(Clone, Copy)]
pub struct LogParser {
    pub name: &'static str,
    parse: fn(&str, Version) -> StatusMap,
}

impl LogParser {
    /// `log` has `\n` at its lines' ends.
    pub fn parse(&self, log: &str, version: Version) -> StatusMap {
        (self.parse)(log, version)
    }
}

const PYTEST: LogParser = LogParser {
    name: "pytest",
    parse: pytest::plain,
};
const PYTEST_OPTIONS: LogParser = LogParser {
    name: "pytest_options",
    parse: pytest::options,
};
const PYTEST_V2: LogParser = LogParser {
    name: "pytest_v2",
    parse: pytest::second,
};
const MATPLOTLIB: LogParser = LogParser {
    name: "matplotlib",
    parse: pytest::matplotlib,
};
const DJANGO: LogParser = LogParser {
    name: "django",
    parse: django::parse,
};
const SEABORN: LogParser = LogParser {
    name: "seaborn",
    parse: seaborn::parse,
};
const SYMPY: LogParser = LogParser {
    name: "sympy",
    parse: sympy::parse,
};
const GO: LogParser = LogParser {
    name: "gotest",
    parse: lines::go,
};
const CARGO: LogParser = LogParser {
    name: "cargo",
    parse: lines::cargo,
};
const ANT: LogParser = LogParser {
    name: "ant",
    parse: lines::ant,
};
const JQ: LogParser = LogParser {
    name: "jq",
    parse: lines::jq,
};
const MICROPYTHON: LogParser = LogParser {
    name: "micropython_test",
    parse: lines::micropython,
};
const GOOGLETEST: LogParser = LogParser {
    name: "googletest",
    parse: lines::googletest,
};
const REDIS: LogParser = LogParser {
    name: "redis",
    parse: redis::parse,
};
const PHPUNIT: LogParser = LogParser {
    name: "phpunit",
    parse: phpunit::parse,
};
const GRADLE: LogParser = LogParser {
    name: "gradle_custom",
    parse: gradle::parse,
};
const MAVEN: LogParser = LogParser {
    name: "maven",
    parse: maven::parse,
};

/// Names without `parse_log_` in front: the official ones, and those of recipes.
const BY_NAME: [(&str, LogParser); 34] = [
    ("pytest", PYTEST),
    ("pytest_options", PYTEST_OPTIONS),
    ("pytest_v2", PYTEST_V2),
    ("django", DJANGO),
    ("seaborn", SEABORN),
    ("sympy", SYMPY),
    ("matplotlib", MATPLOTLIB),
    ("astroid", PYTEST),
    ("flask", PYTEST),
    ("marshmallow", PYTEST),
    ("pvlib", PYTEST),
    ("pyvista", PYTEST),
    ("sqlfluff", PYTEST),
    ("xarray", PYTEST),
    ("pydicom", PYTEST_OPTIONS),
    ("requests", PYTEST_OPTIONS),
    ("pylint", PYTEST_OPTIONS),
    ("astropy", PYTEST_V2),
    ("scikit", PYTEST_V2),
    ("sphinx", PYTEST_V2),
    ("gotest", GO),
    ("cargo", CARGO),
    ("maven", MAVEN),
    ("ant", ANT),
    ("gradle_custom", GRADLE),
    ("phpunit", PHPUNIT),
    ("redis", REDIS),
    ("jq", JQ),
    ("micropython_test", MICROPYTHON),
    ("googletest", GOOGLETEST),
    ("pytest-rA", PYTEST),
    ("django-verbosity-2", DJANGO),
    ("sympy-bin-test", SYMPY),
    ("hames", PYTEST),
];

/// The official tables.
const BY_REPO: [(&str, LogParser); 45] = [
    ("astropy/astropy", PYTEST_V2),
    ("django/django", DJANGO),
    ("marshmallow-code/marshmallow", PYTEST),
    ("matplotlib/matplotlib", MATPLOTLIB),
    ("mwaskom/seaborn", SEABORN),
    ("pallets/flask", PYTEST),
    ("psf/requests", PYTEST_OPTIONS),
    ("pvlib/pvlib-python", PYTEST),
    ("pydata/xarray", PYTEST),
    ("pydicom/pydicom", PYTEST_OPTIONS),
    ("pylint-dev/astroid", PYTEST),
    ("pylint-dev/pylint", PYTEST_OPTIONS),
    ("pytest-dev/pytest", PYTEST),
    ("pyvista/pyvista", PYTEST),
    ("scikit-learn/scikit-learn", PYTEST_V2),
    ("sqlfluff/sqlfluff", PYTEST),
    ("sphinx-doc/sphinx", PYTEST_V2),
    ("sympy/sympy", SYMPY),
    ("redis/redis", REDIS),
    ("valkey-io/valkey", REDIS),
    ("jqlang/jq", JQ),
    ("micropython/micropython", MICROPYTHON),
    ("fmtlib/fmt", GOOGLETEST),
    ("caddyserver/caddy", GO),
    ("hashicorp/terraform", GO),
    ("prometheus/prometheus", GO),
    ("gohugoio/hugo", GO),
    ("gin-gonic/gin", GO),
    ("google/gson", MAVEN),
    ("apache/druid", MAVEN),
    ("javaparser/javaparser", MAVEN),
    ("projectlombok/lombok", ANT),
    ("apache/lucene", GRADLE),
    ("reactivex/rxjava", GRADLE),
    ("phpoffice/phpspreadsheet", PHPUNIT),
    ("laravel/framework", PHPUNIT),
    ("php-cs-fixer/php-cs-fixer", PHPUNIT),
    ("briannesbitt/carbon", PHPUNIT),
    ("burntsushi/ripgrep", CARGO),
    ("sharkdp/bat", CARGO),
    ("astral-sh/ruff", CARGO),
    ("tokio-rs/tokio", CARGO),
    ("uutils/coreutils", CARGO),
    ("nushell/nushell", CARGO),
    ("tokio-rs/axum", CARGO),
];

/// By an official or a short name.
pub fn by_name(name: &str) -> Option<LogParser> {
    let short = name.strip_prefix("parse_log_").unwrap_or(name);
    let found = BY_NAME.iter().find(|(known, _)| *known == short);
    found.map(|(_, parser)| *parser)
}

/// For a dataset that names no parser.
pub fn by_repo(repo: &str) -> Option<LogParser> {
    let found = BY_REPO.iter().find(|(known, _)| *known == repo);
    found.map(|(_, parser)| *parser)
}

/// Every name that [`by_name`] knows, for messages.
pub fn names() -> Vec<&'static str> {
    BY_NAME.iter().map(|(name, _)| *name).collect()
}
