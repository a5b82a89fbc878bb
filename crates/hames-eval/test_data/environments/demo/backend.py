"""A build backend that needs nothing: it installs `src` in place and rewrites `demo.egg-info`."""

import os
import zipfile

NAME = "demo-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
SCRIPTS = "[console_scripts]\ndemo = demo:main\n"


def prepare_metadata_for_build_wheel(folder, settings=None):
    os.mkdir(os.path.join(folder, NAME))
    with open(os.path.join(folder, NAME, "METADATA"), "w") as file:
        file.write(METADATA)
    return NAME


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(folder, settings=None, metadata=None):
    name = "demo-1.0-py3-none-any.whl"
    with open("demo.egg-info/PKG-INFO", "w") as file:
        file.write("rewritten by installing\n")
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("demo.pth", os.path.abspath("src") + "\n")
        wheel.writestr(NAME + "/METADATA", METADATA)
        wheel.writestr(NAME + "/WHEEL", WHEEL)
        wheel.writestr(NAME + "/entry_points.txt", SCRIPTS)
        wheel.writestr(NAME + "/RECORD", "")
    return name


build_editable = build_wheel
