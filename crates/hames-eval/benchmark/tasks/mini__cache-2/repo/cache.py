"""A map that keeps the entries used last."""

from collections import OrderedDict


class Cache:
    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("a cache holds at least one entry")
        self.capacity = capacity
        self._entries = OrderedDict()

    def put(self, key, value):
        self._entries.pop(key, None)
        self._entries[key] = value
        while len(self._entries) > self.capacity:
            self._entries.popitem(last=False)

    def get(self, key, default=None):
        if key not in self._entries:
            return default
        self._entries.move_to_end(key)
        return self._entries[key]

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return key in self._entries
