from planner.graph import PlanError, order
from planner.parser import parse

__all__ = ["PlanError", "order", "parse"]
