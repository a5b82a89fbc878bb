-- One line for each run of `hames eval run`, as its results say.
CREATE TABLE runs (
    run_id          TEXT PRIMARY KEY,
    adapter         TEXT NOT NULL,
    model           TEXT NOT NULL,
    dataset         TEXT NOT NULL,
    harness_version TEXT NOT NULL
);

-- One line for each trial of an instance. `json` is its whole result.json.
CREATE TABLE results (
    id              INTEGER PRIMARY KEY,
    run_id          TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    instance_id     TEXT NOT NULL,
    trial           INTEGER NOT NULL,
    repository      TEXT NOT NULL,
    adapter         TEXT NOT NULL,
    model           TEXT NOT NULL,
    resolved        INTEGER NOT NULL,     -- 0 or 1
    counted         INTEGER NOT NULL,     -- 0: no part of the denominator
    failure_class   TEXT,
    failure_stage   TEXT,
    failure_message TEXT,
    report_source   TEXT NOT NULL,
    backend         TEXT NOT NULL,        -- local or docker
    cost_usd        REAL,
    tokens_in       INTEGER NOT NULL,     -- what was read from a cache left out
    tokens_out      INTEGER NOT NULL,
    tokens_cached   INTEGER NOT NULL,     -- read from a cache
    turns           INTEGER NOT NULL,
    patch_bytes     INTEGER NOT NULL,
    leaks           INTEGER NOT NULL,     -- answers found where the agent could read
    peeking         INTEGER NOT NULL,     -- steps that looked for answers
    seconds         REAL NOT NULL,        -- of all stages together
    generated_at    TEXT NOT NULL,        -- ISO 8601, UTC
    json            TEXT NOT NULL,
    UNIQUE (run_id, instance_id, trial)
);

CREATE TABLE stages (
    result_id INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
    stage     TEXT NOT NULL,              -- S1_build to S7_record
    state     TEXT,                       -- done, failed or skipped
    seconds   REAL,
    PRIMARY KEY (result_id, stage)
) WITHOUT ROWID;

CREATE TABLE attempts (
    result_id  INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,          -- from 1 on
    adapter    TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    seconds    REAL NOT NULL,
    returncode INTEGER,                   -- negative for a signal
    killed     INTEGER NOT NULL,
    rescued    INTEGER NOT NULL,
    cost_usd   REAL,
    error      TEXT,
    PRIMARY KEY (result_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE tests (
    result_id INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
    list      TEXT NOT NULL,              -- fail_to_pass or pass_to_pass
    name      TEXT NOT NULL,
    verdict   TEXT NOT NULL               -- pass, fail or left_out
);
CREATE INDEX tests_of_result ON tests (result_id);

-- %resolved over the denominator: the mean over instances of the share of their trials.
CREATE VIEW resolved_by_instance AS
SELECT run_id, instance_id, repository, count(*) AS trials, sum(resolved) AS resolved,
       avg(resolved) AS share
FROM results WHERE counted GROUP BY run_id, instance_id;

CREATE VIEW resolved_by_run AS
SELECT run_id, count(*) AS instances, sum(trials) AS trials, sum(resolved) AS resolved,
       100.0 * avg(share) AS resolved_pct
FROM resolved_by_instance GROUP BY run_id;

CREATE VIEW resolved_by_repository AS
SELECT run_id, repository, count(*) AS instances, sum(trials) AS trials,
       sum(resolved) AS resolved, 100.0 * avg(share) AS resolved_pct
FROM resolved_by_instance GROUP BY run_id, repository;

-- What was spent on all trials, those that do not count included, for each one that resolved.
CREATE VIEW cost_by_run AS
SELECT run_id, sum(cost_usd) AS cost_usd,
       sum(cost_usd) / nullif(sum(resolved AND counted), 0) AS cost_per_resolved
FROM results GROUP BY run_id;

CREATE VIEW failures_by_run AS
SELECT run_id, failure_class, counted, count(*) AS trials
FROM results WHERE failure_class IS NOT NULL GROUP BY run_id, failure_class, counted;
