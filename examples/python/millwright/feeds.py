"""What a call is fed: arrays of the same names, shapes and types as before cost no more than their addresses.

A Feeder belongs to one call at a time; Feeders hands out one for each thread that calls."""
from . import abi, arrays

ANY = (None,)


class Feeder:
    """An mw_batch that is made once and filled again: feeder.batch({"x": array}). What it points to lives until the
    next call of it."""

    def __init__(self, shapes):
        self._shapes, self._names, self._keep = shapes, None, []
        self._items, self._each, self._known, self._batch = None, [], [], abi.mw_batch()

    def batch(self, feeds):
        """Of {name: values}; the extents of names in `shapes` are checked (None: any)."""
        if tuple(feeds) != self._names:
            self._make(feeds)
        examples = None
        for i, (name, value) in enumerate(feeds.items()):
            facts = getattr(value, "__array_interface__", None)
            if facts is not None and facts["shape"] and (
                    facts["typestr"], facts["shape"], facts.get("strides")) == self._known[i]:
                self._each[i].data, self._keep[i] = facts["data"][0], facts
                count = facts["shape"][0]
            else:
                count = self._look(i, name, value)
            examples = count if examples is None else examples
        self._batch.examples = examples or 0
        return self._batch

    def _make(self, feeds):
        count = len(feeds)
        self._items, self._keep, self._known = (abi.mw_feed * count)(), [None] * count, [ANY] * count
        self._each = list(self._items)
        for item, name in zip(self._each, feeds):
            item.name = name.encode()
        self._batch.feeds, self._batch.feed_count, self._names = self._items, count, tuple(feeds)

    def _look(self, i, name, value):
        """Fills feed `i` with what was not seen before."""
        found = arrays.source(value, name)
        if name in self._shapes:
            arrays.of_shape(found, self._shapes[name], name)
        item = self._each[i]
        item.dtype, item.data, item.count = found.dtype, found.address, found.count
        facts = getattr(value, "__array_interface__", None)
        plain = facts is not None and isinstance(facts.get("data"), tuple)
        self._known[i] = (facts["typestr"], facts["shape"], facts.get("strides")) if plain else ANY
        self._keep[i] = found
        return found.shape[0] if found.shape else 1


class Feeders:
    """Feeders that wait for their next call."""

    def __init__(self, shapes):
        self._shapes, self._idle = shapes, []

    def take(self):
        """One that no other thread has, until it is given back."""
        try:
            return self._idle.pop()
        except IndexError:
            return Feeder(self._shapes)

    def give(self, feeder):
        self._idle.append(feeder)
