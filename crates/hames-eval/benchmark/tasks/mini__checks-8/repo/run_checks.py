"""Runs the checks that checks.cfg names and prints one line for each, as pytest's summary does."""

import os
import sys
import traceback
import unittest


class Lines(unittest.TestResult):
    def name(self, test):
        module = type(test).__module__
        if module == "unittest.loader":  # a file that cannot be imported
            return getattr(test, "_testMethodName").replace(".", "/") + ".py"
        path = module.replace(".", "/") + ".py"
        return "%s::%s::%s" % (path, type(test).__name__, getattr(test, "_testMethodName"))

    def say(self, verdict, test, error=None):
        if error:
            traceback.print_exception(*error)
        sys.stderr.flush()
        print(verdict, self.name(test), flush=True)

    def addSuccess(self, test):
        self.say("PASSED", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say("FAILED", test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.say("FAILED", test, error)

    def addSkip(self, test, reason):
        self.say("SKIPPED", test)


def settings():
    with open("checks.cfg") as file:
        lines = [line.split("=") for line in file if "=" in line]
    return {name.strip(): value.strip() for name, value in lines}


def main():
    sys.path.insert(0, os.getcwd())
    cfg = settings()
    suite = unittest.defaultTestLoader.discover(cfg["folder"], cfg["pattern"], top_level_dir=".")
    result = Lines()
    suite.run(result)
    print("%d checks, %d failures" % (result.testsRun, len(result.failures + result.errors)))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
