"""An executor whose tasks are done in any order."""

import random
from concurrent.futures import Executor, Future


class Shuffled(Executor):
    """Runs the tasks in any order, once the last has been handed in."""

    def __init__(self, seed, n):
        self.random, self.n, self.waiting = random.Random(seed), n, []

    def submit(self, work, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, work, args, kwargs))
        if len(self.waiting) == self.n:
            self.random.shuffle(self.waiting)
            for each, function, values, named in self.waiting:
                try:
                    each.set_result(function(*values, **named))
                except BaseException as error:
                    each.set_exception(error)
        return future
