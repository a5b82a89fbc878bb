"""Puts steps in an order in which each comes after what it needs."""


class PlanError(Exception):
    pass


def order(steps):
    done, open_ = [], set()

    def visit(name):
        if name in done:
            return
        if name in open_:
            raise PlanError("cycle")
        open_.add(name)
        for need in steps[name]:
            if need not in steps:
                raise PlanError("%s needs %s, which is not in the plan" % (name, need))
            visit(need)
        open_.remove(name)
        done.append(name)

    for name in steps:
        visit(name)
    return done
