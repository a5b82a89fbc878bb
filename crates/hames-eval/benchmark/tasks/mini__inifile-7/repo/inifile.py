"""Sets values in INI files without touching anything else."""


def get(path, key):
    with open(path) as file:
        for line in file:
            name, equals, value = line.partition("=")
            if equals and name.strip() == key:
                return value.strip()
    return None


def set(path, key, value):
    """Changes the first line for the key; appends one if there is none."""
    with open(path) as file:
        lines = file.read().splitlines()
    for at, line in enumerate(lines):
        if line.partition("=")[0].strip() == key:
            lines[at] = "%s=%s" % (key, value)
            break
    else:
        lines.append("%s=%s" % (key, value))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
