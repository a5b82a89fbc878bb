//! The official parsers by name, and which repository's logs each reads.
//!
//! What a parser does is in the file that its row names.

use super::{
    LogOf, LogParser, Parse, django, doctest, failures, gradle, jest, lines, maven, mocha_json,
    next, p5js, phpunit, pytest, quarto, redis, seaborn, suites, sympy,
};

/// Names without `parse_log_` in front.
pub(super) const PARSERS: [LogParser; 44] = [
    parser("pytest", pytest::plain),
    parser("pytest_options", pytest::options),
    parser("pytest_v2", pytest::second),
    parser("matplotlib", pytest::matplotlib),
    parser("django", django::parse),
    parser("seaborn", seaborn::parse),
    parser("sympy", sympy::parse),
    parser("gotest", lines::go),
    parser("cargo", lines::cargo),
    parser("ant", lines::ant),
    parser("jq", lines::jq),
    parser("micropython_test", lines::micropython),
    parser("googletest", lines::googletest),
    parser("redis", redis::parse),
    parser("phpunit", phpunit::parse),
    parser("gradle_custom", gradle::parse),
    parser("maven", maven::parse),
    parser("calypso", suites::calypso),
    parser("karma", suites::karma),
    parser("highlightjs", suites::highlightjs),
    parser("jest", jest::verbose),
    parser("carbon", jest::files),
    parser("react_pdf", jest::files),
    parser("grommet", jest::grommet),
    parser("jest_json", lines::jest_json),
    parser("vitest", lines::vitest),
    parser("tap", lines::tap),
    parser("prismjs", mocha_json::prism),
    parser("eslint", failures::eslint),
    parser("bpmn_js", failures::bpmn_js),
    parser("openlayers", failures::openlayers),
    parser("chart_js", failures::chart_js),
    parser("marked", failures::marked),
    parser("p5js", p5js::parse),
    parser("quarto_cli", quarto::parse),
    parser("doctest", doctest::parse),
    parser("minitest", lines::minitest),
    parser("cucumber", lines::cucumber),
    parser("ruby_unit", lines::ruby_unit),
    parser("rspec_transformed_json", lines::rspec_transformed_json),
    // Those that are no official names on their own.
    parser("lighthouse_mocha", suites::lighthouse_mocha),
    parser("lighthouse_json", mocha_json::lighthouse),
    parser("next_karma", suites::next_karma),
    parser("next_cypress", next::parse),
];

/// Further names: official ones of the same reading, and those of recipes.
pub(super) const ALIASES: [(&str, &str); 17] = [
    ("astroid", "pytest"),
    ("flask", "pytest"),
    ("marshmallow", "pytest"),
    ("pvlib", "pytest"),
    ("pyvista", "pytest"),
    ("sqlfluff", "pytest"),
    ("xarray", "pytest"),
    ("pydicom", "pytest_options"),
    ("requests", "pytest_options"),
    ("pylint", "pytest_options"),
    ("astropy", "pytest_v2"),
    ("scikit", "pytest_v2"),
    ("sphinx", "pytest_v2"),
    ("pytest-rA", "pytest"),
    ("django-verbosity-2", "django"),
    ("sympy-bin-test", "sympy"),
    ("hames", "pytest"),
];

/// The name of the parser that is meant; none for a log that no official table knows.
type Choose = fn(LogOf<'_>) -> Option<&'static str>;

/// Names that stand for several parsers.
pub(super) const CHOSEN: [(&str, Choose); 4] = [
    ("immutable_js", immutable_js),
    ("jekyll", jekyll),
    ("lighthouse", lighthouse),
    ("next", fusion_next),
];

/// The official tables.
pub(super) const REPOSITORIES: [(&str, &str); 76] = [
    ("astropy/astropy", "pytest_v2"),
    ("django/django", "django"),
    ("marshmallow-code/marshmallow", "pytest"),
    ("matplotlib/matplotlib", "matplotlib"),
    ("mwaskom/seaborn", "seaborn"),
    ("pallets/flask", "pytest"),
    ("psf/requests", "pytest_options"),
    ("pvlib/pvlib-python", "pytest"),
    ("pydata/xarray", "pytest"),
    ("pydicom/pydicom", "pytest_options"),
    ("pylint-dev/astroid", "pytest"),
    ("pylint-dev/pylint", "pytest_options"),
    ("pytest-dev/pytest", "pytest"),
    ("pyvista/pyvista", "pytest"),
    ("scikit-learn/scikit-learn", "pytest_v2"),
    ("sqlfluff/sqlfluff", "pytest"),
    ("sphinx-doc/sphinx", "pytest_v2"),
    ("sympy/sympy", "sympy"),
    ("redis/redis", "redis"),
    ("valkey-io/valkey", "redis"),
    ("jqlang/jq", "jq"),
    ("micropython/micropython", "micropython_test"),
    ("fmtlib/fmt", "googletest"),
    ("caddyserver/caddy", "gotest"),
    ("hashicorp/terraform", "gotest"),
    ("prometheus/prometheus", "gotest"),
    ("gohugoio/hugo", "gotest"),
    ("gin-gonic/gin", "gotest"),
    ("google/gson", "maven"),
    ("apache/druid", "maven"),
    ("javaparser/javaparser", "maven"),
    ("projectlombok/lombok", "ant"),
    ("apache/lucene", "gradle_custom"),
    ("reactivex/rxjava", "gradle_custom"),
    ("phpoffice/phpspreadsheet", "phpunit"),
    ("laravel/framework", "phpunit"),
    ("php-cs-fixer/php-cs-fixer", "phpunit"),
    ("briannesbitt/carbon", "phpunit"),
    ("burntsushi/ripgrep", "cargo"),
    ("sharkdp/bat", "cargo"),
    ("astral-sh/ruff", "cargo"),
    ("tokio-rs/tokio", "cargo"),
    ("uutils/coreutils", "cargo"),
    ("nushell/nushell", "cargo"),
    ("tokio-rs/axum", "cargo"),
    ("nlohmann/json", "doctest"),
    ("Automattic/wp-calypso", "calypso"),
    ("chartjs/Chart.js", "chart_js"),
    ("markedjs/marked", "marked"),
    ("processing/p5.js", "p5js"),
    ("diegomura/react-pdf", "react_pdf"),
    ("babel/babel", "jest"),
    ("vuejs/core", "vitest"),
    ("facebook/docusaurus", "jest"),
    ("immutable-js/immutable-js", "immutable_js"),
    ("mrdoob/three.js", "tap"),
    ("preactjs/preact", "karma"),
    ("axios/axios", "tap"),
    ("alibaba-fusion/next", "next"),
    ("bpmn-io/bpmn-js", "bpmn_js"),
    ("carbon-design-system/carbon", "carbon"),
    ("eslint/eslint", "eslint"),
    ("GoogleChrome/lighthouse", "lighthouse"),
    ("grommet/grommet", "grommet"),
    ("highlightjs/highlight.js", "highlightjs"),
    ("openlayers/openlayers", "openlayers"),
    ("prettier/prettier", "carbon"),
    ("PrismJS/prism", "prismjs"),
    ("quarto-dev/quarto-cli", "quarto_cli"),
    ("scratchfoundation/scratch-gui", "carbon"),
    ("jekyll/jekyll", "jekyll"),
    ("fluent/fluentd", "ruby_unit"),
    ("fastlane/fastlane", "rspec_transformed_json"),
    ("jordansissel/fpm", "rspec_transformed_json"),
    ("faker-ruby/faker", "ruby_unit"),
    ("rubocop/rubocop", "rspec_transformed_json"),
];

const fn parser(name: &'static str, parse: Parse) -> LogParser {
    LogParser { name, parse }
}

/// By the pull request: the official tables know no more of them.
fn immutable_js(of: LogOf<'_>) -> Option<&'static str> {
    match of.id.rsplit('-').next()? {
        "2006" => Some("jest"),
        "2005" => Some("jest_json"),
        _ => None,
    }
}

fn jekyll(of: LogOf<'_>) -> Option<&'static str> {
    match of.id.split('-').nth(1)? {
        "9141" | "8047" | "8167" => Some("minitest"),
        "8761" | "8771" => Some("cucumber"),
        _ => None,
    }
}

fn lighthouse(of: LogOf<'_>) -> Option<&'static str> {
    match of.version {
        "9.5" | "10.0" | "10.2" => Some("lighthouse_mocha"),
        version if version.trim().parse::<f64>().ok()? >= 3.0 => Some("carbon"),
        _ => Some("lighthouse_json"),
    }
}

fn fusion_next(of: LogOf<'_>) -> Option<&'static str> {
    match of.version {
        "1.27" => Some("next_cypress"),
        _ => Some("next_karma"),
    }
}
