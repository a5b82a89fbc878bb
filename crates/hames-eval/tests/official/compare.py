"""Holds our grader against the official packages on generated logs.

    python3 compare.py v4|v5 PACKAGE_DIR GRADE_CORPUS [COUNT] [SEED] [--corpus FILE] [--only=PARSER ...]

PACKAGE_DIR holds an unpacked `swebench` wheel (4.1.0 for v4, 5.0.2 for v5; `pip download --no-deps`),
GRADE_CORPUS is the built example of that name. With --corpus, the cases are also written with the
official results beside them.
"""

import contextlib
import io
import json
import random
import subprocess
import sys
import types

VERSION, PACKAGE, GRADER = sys.argv[1:4]
rest = [arg for arg in sys.argv[4:] if not arg.startswith("--")]
CORPUS = sys.argv[sys.argv.index("--corpus") + 1] if "--corpus" in sys.argv else None
if CORPUS:
    rest.remove(CORPUS)
ONLY = [arg.removeprefix("--only=") for arg in sys.argv[4:] if arg.startswith("--only=")]
COUNT = int(rest[0]) if rest else 10_000
SEED = int(rest[1]) if len(rest) > 1 else 1


class Anything(types.ModuleType):
    """Stands for what a grader of logs has no need of: containers, hubs, networks."""

    def __init__(self, name="anything"):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **named):
        return self


class Finder:
    ABSENT = {"docker", "datasets", "dotenv", "ghapi", "modal", "requests", "bs4", "chardet", "git", "rich", "tenacity", "tqdm",
              "unidiff", "fastcore", "typer", "yaml", "huggingface_hub"}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.ABSENT:
            import importlib.machinery
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
# The package's own first file imports everything; what is below it can do without.
for name, where in [("swebench", "swebench"), ("swebench.harness", "swebench/harness")]:
    package = types.ModuleType(name)
    package.__path__ = [f"{PACKAGE}/{where}"]
    sys.modules[name] = package
sys.path.insert(0, PACKAGE)

from swebench.harness import grading  # noqa: E402
import swebench.harness.log_parsers as parsers  # noqa: E402

NAMES = ["pytest", "pytest_options", "pytest_v2", "django", "seaborn", "sympy", "matplotlib", "gotest", "cargo", "maven", "ant",
         "gradle_custom", "phpunit", "redis", "jq", "micropython_test", "googletest", "doctest", "calypso", "chart_js", "marked", "p5js",
         "react_pdf", "jest", "jest_json", "vitest", "karma", "tap", "immutable_js", "minitest", "cucumber", "ruby_unit",
         "rspec_transformed_json", "jekyll"]
if VERSION == "v5":
    NAMES += ["bpmn_js", "carbon", "eslint", "grommet", "highlightjs", "lighthouse", "next", "openlayers", "prismjs", "quarto_cli"]
MODULES = ["python", "go", "rust", "java", "php", "c", "javascript", "ruby"]
# Which parser it is to be goes by these.
IDS = {"immutable_js": ["immutable-js__immutable-js-2005", "immutable-js__immutable-js-2006"],
       "jekyll": ["jekyll__jekyll-9141", "jekyll__jekyll-8761"]}
PROJECTS = {"lighthouse": ["9.5", "10.2", "2.7", "3.0", "5"], "next": ["1.27", "1.26"]}


def official(name):
    import importlib
    for module in MODULES:
        found = getattr(importlib.import_module(f"swebench.harness.log_parsers.{module}"), f"parse_log_{name}", None)
        if found:
            return found
    raise KeyError(name)


dice = random.Random(SEED)
pick = dice.choice
STATUS = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL"]
WORDS = ["add", "parse", "größe", "x1", "io", "deep", "名前", "a_b", "T", "edge"]


def name():
    kind = dice.randrange(8)
    test = f"tests/test_{pick(WORDS)}.py::test_{pick(WORDS)}"
    if kind == 0:
        return f"{test}[{pick(['/a/b/c', '//x', '/a/*', 'http://e.org/x', '1-2', '', 'a b', 'a[b]'])}]"
    if kind == 1:
        return f"{test}[{pick(WORDS)}"
    if kind == 2:
        return f"test_{pick(WORDS)} ({pick(WORDS)}.{pick(WORDS)}Tests)"
    if kind == 3:
        return f"test_{pick(WORDS)}"
    if kind == 4:
        return f"com.{pick(WORDS)}.Test > {pick(WORDS)}"
    if kind == 5:
        return "MouseButton.LEFT-" + test
    return test


def line(names):
    test, status = pick(names), pick(STATUS)
    return pick([
        f"{status} {test}", f"{status} {test} - assert 1 == 2 - x", f"{test} {status}", f"{status}: {test}", status,
        f"{test} {status} [ 50%]", f"SKIPPED [{dice.randrange(9)}] tests/test_x.py:7: why", f"PASSED [100%]",
        f"\x1b[32m{status}\x1b[0m {test}", f"{test} \x1b[31m{status}\x1b[0m", f"{test} ... ok", f"{test} ... OK", f"{test} ...  OK", f"{test} ... FAIL",
        f"{test} ... ERROR", f"{test} ... skipped 'no'", f"FAIL: {test}", f"ERROR: {test}", f"FAIL:", f"{test} ... some output", "ok", "  ok",
        f"{test} ... Testing against Django installed in x silenced).\nok", f"{test} ... Internal Server Error: /a/\nok",
        f"{test} ... System check identified no issues (0 silenced)\nok", "--version is equivalent to version ...",
        "Applying sites.0002_alter_domain_unique...test_no_migrations (m.T) ... ok", f"{test} ok", f"{test} F", f"{test} E", f"{test} f",
        f"____ sympy/core/tests/test_x.py:{pick(WORDS)} ____", f"--- {pick(['PASS', 'FAIL', 'SKIP'])}: {test} (0.01s)",
        f"    --- {pick(['PASS', 'FAIL'])}: {test} (0.01s)", f"test {test} ... {pick(['ok', 'FAILED', 'ignored'])}", f"+ mvn test -Dtest={test}",
        f"[INFO] BUILD {pick(['SUCCESS', 'FAILURE'])}", f"[junit] [{pick(['PASS', 'FAIL', 'ERR'])}] {test}", f"{test} > m PASSED", f"{test} > m", "PASSED",
        "FAILED", f"Suite {pick(WORDS)} (A\\B)", f" ✔ {test}", f" ✘ {test}", f" ↩ {test}", f"[{pick(['ok', 'err', 'skip', 'ignore'])}]: {test} (3 ms)",
        f"[err]: {test} in tests/unit/x.tcl", f"{pick(['PASS', 'FAIL'])}: {test}", f"{pick(['pass', 'FAIL', 'skip'])}  {test}",
        f"[       {pick(['OK', 'FAILED'])} ] {test} (3 ms)", "noise", "", "\t" + f"{status} {test}", f"{status}\u00a0{test}", f"{status}\x1c{test}", f"{status} {test}\r",
        "Executed 3 of 3", "Executed 0 of 0", "12 passing", "# tests 4", "3 specs, 0 failures", "Cannot find module 'x'", "Killed", "no tests ran",
    ])


# Lines of the runners that print in blocks: a log of theirs is drawn from these half of the time.
def web(names):
    test = pick(names)
    pad = " " * dice.randrange(9)
    time = pick(["", "", " (3ms)", " (1.5 s)", " (2s)", " (12 ms)", "(7ms)", " (3mms)"])
    return pick([
        f"{pad}✓ {test}{time}", f"{pad}✓ {test} {time}", f"{pad}✔ {test}{time}", f"{pad}✕ {test}{time}", f"{pad}✗ {test}{time}", f"{pad}✖ {test}{time}",
        f"{pad}× {test} 12ms", f"{pad}↓ {test} [skipped]", f"{pad}○ {test}{time}", f"{pad}{dice.randrange(99)}) {test}{time}",
        f"{pad}{test}", f"{pad}{test}", f"{pad}suite {pick(WORDS)}", pad, f"✓{test}", "Test Suites: 1 total", "  ● a failure",
        "+ ./node_modules/.bin/jest a", "+ ./node_modules/.bin/jest b", "x xvfb-run y", "Starting browser Chrome", "INFO: Starting browser C",
        "TOTAL: 3 SUCCESS", "SUMMARY:", "ERROR in x", f"{pad}LOG: {test}", "AssertionError: #1", "\n", "",
        f"running {dice.randrange(9)} test files", f"  {dice.randrange(9)} passing (2s)", f"PASS {test}{time}", f"FAIL {test}{time}", "FAIL", "PASS ",
        f"Running:  {test} (1 of 2)\n\n\n  {pick(WORDS)}\n", f"    ✓ {test} (3ms)", f"    1) {test}",
        f"2KPhantomJS 2.1.1 (Linux 0.0.0) {test} FAILED", f"HeadlessChrome 9.1 (Linux 0.0.0) {test} FAILED", f"Chrome Headless 9.1 (Linux x86_64) {test} FAILED",
        f"Chrome 9.1 (Linux x86_64) {test} FAILED", f"2KPhantomJS 2.1.1 (Linux x86_64) {test} FAILED", f"\x1b[31mChrome 9 (Linux) {test} FAILED\x1b[0m",
        f"case {test}: mismatch", f"  {dice.randrange(9)}) {test}\n       more:\n     TypeError: x", f"  3) {test} AssertionError [ERR]: x", f"1) {test}:",
        "{", "}", "[", "]", '{"a": 1}', "[1, 2]", "<a>", "</a>", "<a><a>x</a>", "<b>x</b>", f"<a>{test}</a>",
        f"[smoke] > {test} ... \x1b[0m\x1b[32mok\x1b[0m (3s)", f"[unit] > /tmp/x1/y.qmd {test} ... \x1b[0m\x1b[31mFAILED\x1b[0m", f"[smoke] /tmp/a{dice.randrange(3)}.qmd x",
        f"[smoke] {test} ... 34mINFO", "[unit] 1 passed 2 failed (3 steps)", "ERRORS", "failures:", "+ ./node_modules/.bin/mocha tests/run.js --reporter json",
        "+ ./node_modules/.bin/mocha --reporter json x", json.dumps({"failures": [{"fullTitle": test}], "passes": [{"fullTitle": pick(names), "x": {}}]}),
        json.dumps({"passes": [{"fullTitle": test, "x": 1}], "failures": [{"fullTitle": pick(names), "x": 1}], "z": [1]}, indent=2), "}",
        f"ok {dice.randrange(9)} {test}", f"not ok 3 {test}", f"[{pick(['PASSED', 'FAILED'])}] {test}", f"{test}. x = 0.0{dice.randrange(9)} s = {pick('.FES')}", f"{test} ...{pick('.F-')}",
        f"test: {test}:  {pick('.EFO')}", f"{pad}{test}:\t{pick(['.: (0.1)', 'E', 'F', 'O', 'Ex'])}", f"{test} - {pick(['passed', 'failed', 'pending'])}", f"{test} - x - passed: 1",
        f'<doctest binary="x"><TestCase name="{pick(WORDS)}">', f'<SubCase name="{pick(WORDS)}"><Expression success="{pick(["true", "false"])}"/></SubCase>',
        f'<SubCase><SubCase name="&lt;{pick(WORDS)}"></SubCase></SubCase>', "</TestCase>", "</doctest>",
        f'<doctest><TestCase name="{test.replace("/", "")}"><SubCase name="a"><Expression success="{pick(["true", "false"])}"/></SubCase><SubCase name="b"/></TestCase></doctest>',
    ])


# What a log of the parser begins with, so that more of it is read.
BEGIN = {"calypso": "+ ./node_modules/.bin/jest a", "karma": "Starting browser C", "next": "x xvfb-run y", "lighthouse": "running 3 test files",
         "prismjs": "+ ./node_modules/.bin/mocha tests/run.js --reporter json"}


def log(names, parser):
    draw = pick([line, web, web])
    body = [draw(names) for _ in range(dice.randrange(14))]
    if parser in BEGIN and dice.random() < 0.7:
        body.insert(0, BEGIN[parser])
    marks = dice.random()
    text = ["+ git status", *[line(names) for _ in range(dice.randrange(2))]]
    if marks > 0.06:
        text.append("+ : '>>>>> Start Test Output'")
    text += body
    if marks > 0.12 or marks < 0.03:
        text.append("+ : '>>>>> End Test Output'")
    if dice.random() < 0.5:
        text.append(f">>>>> Test Exit Code: {pick([0, 0, 1, 2, -9, 137])}")
    if dice.random() < 0.06:
        text.insert(dice.randrange(len(text) + 1), pick([">>>>> Patch Apply Failed", ">>>>> Reset Failed", ">>>>> Tests Errored", ">>>>> Tests Timed Out",
                                                        "Timeout error: 30 seconds exceeded."]))
    whole = "\n".join(text) + "\n"
    if dice.random() < 0.15:
        whole = whole.replace("\n", "\r\n")
    if dice.random() < 0.1:
        whole = whole[: dice.randrange(len(whole))]
    return whole


def listed(names):
    drawn = [pick(names) for _ in range(dice.randrange(4))]
    return [test[: dice.randrange(1, len(test) + 1)] if dice.random() < 0.15 else test for test in dict.fromkeys(drawn)]


def expected(case):
    """What the official package makes of it; a parser that raises is told as such."""
    import tempfile
    parser = official(case["parser"])
    spec = types.SimpleNamespace(
        instance_id=case["id"], repo="nobody/nothing", version=case["project"], log_parser="p", FAIL_TO_PASS=case["fail_to_pass"],
        PASS_TO_PASS=case["pass_to_pass"], eval_type="fail_only" if case["fail_only"] else "pass_and_fail")
    if VERSION == "v4":
        grading.MAP_REPO_TO_PARSER = {spec.repo: parser}
        grading.MAP_REPO_VERSION_TO_SPECS = {spec.repo: {spec.version: {"test_cmd": "x"}}}
        grading.FAIL_ONLY_REPOS = {spec.repo} if case["fail_only"] else set()
    else:
        grading.PARSER_REGISTRY = {"p": parser}
    with tempfile.NamedTemporaryFile("w", suffix=".txt", newline="", encoding="utf-8") as file:
        file.write(case["log"])
        file.flush()
        try:
            prediction = {"instance_id": spec.instance_id, "model_name_or_path": "m", "model_patch": "x"}
            # Some parsers print what they wonder about.
            with contextlib.redirect_stdout(io.StringIO()):
                statuses, found = grading.get_logs_eval(spec, file.name)
                report = grading.get_eval_report(spec, prediction, file.name, True)
        # A log that none of its kind prints: the official run ends there.
        except (IndexError, AttributeError, ValueError, KeyError, SyntaxError):
            return None
    return {"statuses": statuses if found else None, "report": report[spec.instance_id]}


cases = []
for _ in range(COUNT):
    names = [name() for _ in range(dice.randrange(1, 7))]
    parser = pick(ONLY or NAMES)
    cases.append({"version": VERSION, "parser": parser, "fail_only": dice.random() < 0.1, "log": log(names, parser),
                  "fail_to_pass": listed(names), "pass_to_pass": listed(names), "id": pick(IDS.get(parser, ["a__b-1"])),
                  "project": pick(PROJECTS.get(parser, ["1"]))})
wanted = [expected(case) for case in cases]
text = "".join(json.dumps(case) + "\n" for case in cases)
answer = subprocess.run([GRADER], input=text, capture_output=True, text=True, check=True).stdout
ours = [json.loads(one) for one in answer.split("\n") if one]
raised = sum(one is None for one in wanted)
wrong = [(case, a, b) for case, a, b in zip(cases, wanted, ours) if a is not None and a != b]
resolved = sum(bool(one and one["report"]["resolved"]) for one in wanted)
read = sum(bool(one and one["statuses"]) for one in wanted)
print(f"{VERSION}: {COUNT} logs, {len(wrong)} differ, {raised} at which the official parser raises; "
      f"{read} with results, {resolved} resolved, seed {SEED}")
for case, a, b in wrong[:3]:
    print(json.dumps({"parser": case["parser"], "log": case["log"], "official": a, "ours": b}, ensure_ascii=False, indent=1))
if CORPUS:
    with open(CORPUS, "a", encoding="utf-8") as file:
        for case, one in zip(cases, wanted):
            if one is not None:
                file.write(json.dumps({**case, "expected": one}, ensure_ascii=False) + "\n")
sys.exit(bool(wrong))
