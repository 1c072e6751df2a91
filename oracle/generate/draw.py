"""Deterministic draws from a seed: a SHA-256 counter stream, the same in every Python version."""

import hashlib


class Draw:
    """A stream of draws bound to its labels; equal labels give equal draws."""

    def __init__(self, *labels):
        self._key = "\x1f".join(str(label) for label in labels).encode()
        self._counter = 0
        self._pool = b""

    def _bytes(self, count):
        while len(self._pool) < count:
            self._pool += hashlib.sha256(self._key + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
        taken, self._pool = self._pool[:count], self._pool[count:]
        return taken

    def below(self, limit):
        """Uniform integer in 0..limit-1 (rejection sampling)."""
        if limit < 1:
            raise ValueError("an empty range has no draw")
        size = (limit.bit_length() + 7) // 8 + 1
        bound = 256**size - 256**size % limit
        while True:
            value = int.from_bytes(self._bytes(size), "big")
            if value < bound:
                return value % limit

    def between(self, low, high):
        """Uniform integer in low..high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items):
        """One item of a sequence."""
        return items[self.below(len(items))]

    def shuffled(self, items):
        """A new list with the items in random order."""
        result = list(items)
        for index in range(len(result) - 1, 0, -1):
            other = self.below(index + 1)
            result[index], result[other] = result[other], result[index]
        return result

    def sample(self, items, count):
        """`count` different items in random order."""
        return self.shuffled(items)[:count]
